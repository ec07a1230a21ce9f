"""HTTP over a real socket: retries, refusals, and secrets that stay out of the logs."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from lambdas.pager.destinations.sending import HttpPoster
from lambdas.pager.errors import DeliveryError

SECRET_PATH = "/services/T000/B000/s3cr3t"


class Server(HTTPServer):
    statuses: list[int]
    bodies: list[Any]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.statuses.pop(0))
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def answering(*statuses: int) -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.statuses, server.bodies = list(statuses), []
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def poster(waits: list[float]) -> Iterator[HttpPoster]:
    poster = HttpPoster(waits.append)
    yield poster
    poster.close()


def url(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_port}{SECRET_PATH}"


def test_a_busy_destination_is_tried_again(poster: HttpPoster, waits: list[float]) -> None:
    with answering(503, 429, 202) as server:
        poster.post(url(server), {"text": "x"})
        poster.close()

    assert server.bodies == [{"text": "x"}] * 3
    assert waits == [0.5, 1.5]


def test_three_attempts_are_enough(poster: HttpPoster) -> None:
    with answering(500, 500, 500, 200) as server:
        with pytest.raises(DeliveryError, match="not taken after 3 attempts: HTTP 500"):
            poster.post(url(server), {})
        poster.close()

    assert server.statuses == [200]


@pytest.mark.parametrize("status", [400, 403, 404, 302])
def test_a_refusal_is_final(poster: HttpPoster, status: int, waits: list[float]) -> None:
    with answering(status) as server:
        with pytest.raises(DeliveryError, match=f"refused with HTTP {status}"):
            poster.post(url(server), {})
        poster.close()

    assert waits == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "no url at all ", "https://["])
def test_an_unreachable_destination_fails_without_telling_its_address(
    poster: HttpPoster, caplog: pytest.LogCaptureFixture, address: str
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(DeliveryError) as failure:
        poster.post(address + SECRET_PATH, {})

    assert "s3cr3t" not in caplog.text + str(failure.getrepr(style="long"))


def test_a_successful_post_leaves_no_address_in_the_log(poster: HttpPoster, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), answering(200) as server:
        poster.post(url(server), {})
        poster.close()

    assert "s3cr3t" not in caplog.text
