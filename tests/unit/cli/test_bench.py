"""`fleet bench endpoint` against a server in a thread: what it counts, what it refuses, what it leaves behind."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bench.endpoint_load import read_wrk
from cli.bench import result
from cli.bench.result import PlotError
from cli.main import app
from fleet.serving.measurement import Second


class Standin(ThreadingHTTPServer):
    """``seconds`` before an answer; every ``error_every`` request fails; ``usage`` is left out where it is None."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.seconds, self.error_every = 0.0, 0
        self.usage: dict[str, int] | None = {"prompt_tokens": 100, "completion_tokens": 10}
        self.asked: list[dict[str, Any]] = []
        self.numbers = count(1)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes: without it the second waits for the client's word for the first, 40 ms.
    disable_nagle_algorithm = True
    server: Standin

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        number = next(self.server.numbers)
        time.sleep(self.server.seconds)
        is_failure = number > 1 and self.server.error_every and number % self.server.error_every == 0
        body = json.dumps({"usage": self.server.usage}).encode()
        self.send_response(500 if is_failure else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Standin]:
    with Standin() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["bench", "endpoint", *arguments], env={"COLUMNS": "200"})


def measured(server: Standin, *arguments: str) -> Any:
    done = bench(server.address, "--duration", "1", "--warm-up", "0", "--json", *arguments)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_closed_loop_is_as_fast_as_its_clients_and_the_endpoint_s_time_allow(server: Standin) -> None:
    server.seconds = 0.1
    found = measured(server, "--concurrency", "4")

    # Four clients at 0.1 s each: 40 a second and no more; a busy machine makes it fewer.
    assert 8 <= found["requests_per_second"] <= 40
    assert found["latency_seconds"]["p50"] >= 0.1
    assert found["tokens_per_second"] == pytest.approx(10 * found["requests_per_second"])
    assert found["tokens_in_per_second"] == pytest.approx(100 * found["requests_per_second"])
    assert found["errors"] == {}


def test_an_open_loop_makes_as_many_requests_as_were_asked_for_however_slow_the_answers(server: Standin) -> None:
    server.seconds = 0.5
    found = measured(server, "--rate", "100")

    # Drawn with a fixed seed, so the number is the same each time; one request comes before.
    assert 75 <= len(server.asked) - 1 <= 125
    assert found["latency_seconds"]["p50"] >= 0.5


def test_lengths_are_drawn_from_those_that_were_named(server: Standin) -> None:
    measured(server, "--input-tokens", "3,7", "--max-tokens", "5", "--model", "chat")

    assert {len(each["prompt"]) for each in server.asked} == {3, 7}
    assert {(each["max_tokens"], each["model"]) for each in server.asked} == {(5, "chat")}


def test_embeddings_are_asked_for_as_such(server: Standin) -> None:
    server.usage = {"prompt_tokens": 3}
    found = measured(server, "--api", "embeddings", "--input-tokens", "3", "--type", "inf2.48xlarge")

    assert {len(each["input"]) for each in server.asked} == {3}
    assert found["tokens_per_second"] == found["tokens_in_per_second"] > 0


def test_failures_are_counted_by_kind_and_not_tried_again(server: Standin) -> None:
    server.error_every = 4
    server.seconds = 0.02
    found = measured(server, "--concurrency", "2")

    assert found["errors"].keys() == {"HTTP 500"}
    assert found["errors"]["HTTP 500"] == pytest.approx(len(server.asked) / 4, abs=2)


def test_an_answer_that_comes_too_late_is_a_failure(server: Standin) -> None:
    server.seconds = 0.5
    done = bench(server.address, "--duration", "1", "--timeout", "0.1")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "timeout; it must answer one request before it is given many" in done.stderr


def test_the_cost_names_kind_place_and_date_of_the_price(server: Standin) -> None:
    server.seconds = 0.05
    found = measured(server, "--type", "inf2.48xlarge", "--instances", "2")
    price = found["served"]["price"]

    per_token = price["usd_per_hour"] * 2 / (found["tokens_per_second"] * 3600)
    assert found["served"]["usd_per_million_tokens"] == pytest.approx(per_token * 1e6)
    assert (price["kind"], price["region"], price["as_of"]) == ("on-demand", "us-east-2", "2026-10-03")
    text = bench(server.address, "--duration", "1", "--warm-up", "0", "--type", "inf2.48xlarge").stdout
    assert "on-demand, 2026-10-03 (AWS API)" in text
    assert "$/1M tokens generated" in text


def test_a_price_that_nobody_knows_is_not_zero(server: Standin) -> None:
    done = bench(server.address, "--duration", "1", "--warm-up", "0", "--type", "trn2.48xlarge")

    assert "no price is known" in done.stdout
    assert [line for line in done.stdout.splitlines() if "$/1M tokens" in line and " - " in line]


def test_plan_compare_reads_the_result(server: Standin, tmp_path: Path) -> None:
    server.seconds = 0.05
    file = tmp_path / "inf2.json"
    file.write_text(json.dumps(measured(server, "--type", "inf2.48xlarge", "--instances", "2")))
    options = ["--option", f"name=measured,bench={file}", "--option", "name=other,type=inf2.48xlarge,throughput=100"]
    done = CliRunner().invoke(app, ["plan", "compare", *options, "--json"])

    assert done.exit_code == 0, done.output
    mine = json.loads(done.stdout)["given"][0]
    assert mine["usd_per_million_units"] == pytest.approx(
        json.loads(file.read_text())["served"]["usd_per_million_tokens"]
    )


def test_plan_compare_takes_the_price_of_the_market_that_was_measured(server: Standin, tmp_path: Path) -> None:
    server.seconds = 0.05
    file = tmp_path / "trn1.json"
    file.write_text(json.dumps(measured(server, "--type", "trn1.32xlarge", "--market", "capacity-block")))
    options = ["--option", f"name=measured,bench={file}", "--option", "name=other,type=inf2.48xlarge,throughput=100"]
    done = CliRunner().invoke(app, ["plan", "compare", *options, "--json"])

    served = json.loads(file.read_text())["served"]
    assert served["price"]["kind"] == "capacity-block"
    mine = json.loads(done.stdout)["given"][0]
    assert mine["usd_per_million_units"] == pytest.approx(served["usd_per_million_tokens"])


@pytest.mark.parametrize(
    ("content", "said"),
    [("{}", "not a result of"), ("[", "not a result of"), (None, "No such file"), ('{"kind": 3}', "not a result of")],
)
def test_a_file_that_is_no_result_is_one_line(tmp_path: Path, content: str | None, said: str) -> None:
    file = tmp_path / "x.json"
    if content is not None:
        file.write_text(content)
    options = ["--option", f"name=a,bench={file}", "--option", "name=b,type=inf2.48xlarge"]
    done = CliRunner().invoke(app, ["plan", "compare", *options])

    assert done.exit_code == 1
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("http://127.0.0.1:9",), "http://127.0.0.1:9/v1/completions: no connection"),
        (("chat.example.com",), "not the address of an endpoint"),
        (("http://user:word@host",), "leave path and user out"),
        (("http://host:99999",), "not the address of an endpoint"),
        (("http://host", "--api", "chat"), "--api chat: one of completions, embeddings"),
        (("http://host", "--input-tokens", "0"), "--input-tokens 0: whole numbers"),
        (("http://host", "--type", "inf2.49xlarge"), "inf2.4"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    done = bench(*arguments)

    assert (done.exit_code, done.stdout) == (1, "")
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_plot_opens_without_a_network_and_holds_no_tag_of_its_title(tmp_path: Path) -> None:
    library = tmp_path / "echarts.js"
    library.write_text("const echarts = 1")
    seconds = [Second(0, 9, 1, 0.1, 0.2), Second(1, 0, 0, None, None)]
    result.write(tmp_path / "run.html", "</script><b>", seconds, library)
    page = (tmp_path / "run.html").read_text()

    assert "const echarts = 1" in page
    assert "&lt;/script&gt;&lt;b&gt;" in page
    assert '"data": [200.0, null]' in page
    assert "http" not in page
    with pytest.raises(PlotError, match="No such file"):
        result.write(tmp_path / "run.html", "t", seconds, tmp_path / "absent.js")


def test_what_wrk_prints_is_understood() -> None:
    text = "  50%  405.60ms\n  75%  410ms\n  99%    1.02s\nRequests/sec:     38.10\n"

    assert list(read_wrk(text)) == pytest.approx([38.1, 0.4056, 1.02])
    with pytest.raises(ValueError, match="something else"):
        read_wrk("Requests/sec: 3")
    with pytest.raises(ValueError, match="failed"):
        read_wrk(f"{text}Non-2xx or 3xx responses: 4")
