"""The server of ``/metrics``: one page, few guests, short visits."""

import gzip
import http.client
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from agents import assemble
from agents.config import PrometheusConfig
from agents.sinks.prometheus.server import MetricsServer, serve
from tests.support import agents, batches, samples
from tests.support.promtool import check_metrics
from tests.support.scrape import shown

PATIENCE = 60


@contextmanager
def serving(seconds: float = PATIENCE) -> Iterator[MetricsServer]:
    made = MetricsServer("127.0.0.1", 0, shown(batches.one(samples.full_node())).registry, seconds)
    made.start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="module")
def server() -> Iterator[MetricsServer]:
    with serving() as made:
        yield made


def ask(
    server: MetricsServer, path: str, method: str = "GET", **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_the_metrics_are_served_as_text(server: MetricsServer) -> None:
    response, body = ask(server, "/metrics")

    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    assert check_metrics(body) == ""
    assert b"neuron_fleet_core_utilization_ratio{" in body


def test_a_scraper_may_ask_for_openmetrics_and_gzip(server: MetricsServer) -> None:
    accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    response, body = ask(server, "/metrics?x=1", Accept=accept, Accept_Encoding="gzip, deflate")

    assert response.headers["Content-Type"].startswith("application/openmetrics-text")
    assert gzip.decompress(body).endswith(b"# EOF\n")
    assert b"# TYPE neuron_fleet_node_state stateset" in gzip.decompress(body)


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metricsx", "/../etc/passwd"])
def test_there_is_nothing_else(server: MetricsServer, path: str) -> None:
    assert ask(server, path)[0].status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_done_but_get(server: MetricsServer, method: str) -> None:
    assert ask(server, "/metrics", method)[0].status == 501


def test_a_request_that_never_ends_is_hung_up_on_and_others_are_answered_meanwhile() -> None:
    slow = socket.socket()
    slow.settimeout(PATIENCE)
    # As long as a busy machine may need to answer the other request.
    with serving(seconds=2) as made, slow:
        slow.connect(("127.0.0.1", made.server_port))
        slow.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
        assert ask(made, "/metrics")[0].status == 200
        assert slow.recv(1) == b""


def test_more_scrapers_at_once_than_there_are_places_are_turned_away() -> None:
    with serving() as made, ExitStack() as stack:
        # Connections are taken in in their order, so the four before it have their places.
        *_, fifth = [
            stack.enter_context(socket.create_connection(("127.0.0.1", made.server_port), timeout=PATIENCE))
            for _ in range(5)
        ]
        assert fifth.recv(1) == b""


def test_a_taken_port_is_one_line_and_no_exporter(server: MetricsServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert serve(PrometheusConfig(server.server_port)) is None

    assert [record.getMessage() for record in caplog.records] == [
        f"no metrics for Prometheus: 127.0.0.1 port {server.server_port} cannot be opened: Address already in use"
    ]
    assert assemble.exporters(agents.config(prometheus=PrometheusConfig(server.server_port))) == ()


@pytest.mark.parametrize("address", ["203.0.113.7", "no such host", "::ffff:0:0:0:1"])
def test_an_address_of_another_machine_is_one_line(address: str, caplog: pytest.LogCaptureFixture) -> None:
    assert serve(PrometheusConfig(1, address)) is None

    assert len(caplog.records) == 1
    assert "\n" not in caplog.records[0].getMessage()


def test_no_server_is_started_unless_the_configuration_asks_for_one() -> None:
    assert assemble.exporters(agents.config()) == ()
