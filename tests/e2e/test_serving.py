"""The example server as a process: what it answers, and what `fleet bench endpoint` and wrk say of it."""

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench.endpoint_load import WRK, read_wrk
from cli.main import app
from examples.serving.wire import BUCKET_HEADER
from tests.support.needs import needs
from tests.support.served_standin import served


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("serving"), "--seconds", "0.01") as address:
        yield address


def posted(address: str, fields: dict[str, Any]) -> tuple[int, str, dict[str, Any]]:
    request = urllib.request.Request(  # noqa: S310 - the stand-in's own address
        f"{address}/v1/completions", json.dumps(fields).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - see above
            return answer.status, answer.headers.get(BUCKET_HEADER, ""), json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, "", json.loads(error.read())


@pytest.mark.parametrize(("length", "bucket"), [(1, "128"), (127, "128"), (128, "128"), (129, "256"), (2048, "2048")])
def test_each_length_is_padded_to_its_bucket(address: str, length: int, bucket: str) -> None:
    assert posted(address, {"prompt": [1] * length})[:2] == (200, bucket)


def test_one_token_too_many_is_refused_with_the_limit_named(address: str) -> None:
    status, _, body = posted(address, {"prompt": [1] * 2049})

    assert (status, body["error"]["limit"]) == (413, 2048)
    assert body["error"]["message"] == "2049 tokens; this endpoint takes at most 2048"


def test_it_can_be_measured(address: str, tmp_path: Path) -> None:
    told = ["bench", "endpoint", address, "--duration", "1", "--warm-up", "0", "--concurrency", "2"]
    done = CliRunner().invoke(app, [*told, "--type", "inf2.xlarge", "--json", "--plot", str(tmp_path / "run.html")])

    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["errors"] == {}
    assert found["tokens_per_second"] > 0
    assert found["served"]["usd_per_million_tokens"] > 0
    assert "echarts.init" in (tmp_path / "run.html").read_text()


@needs("wrk")
def test_what_wrk_says_of_it_is_understood(address: str) -> None:
    told = [WRK, "-t1", "-c2", "-d1s", "--latency", f"{address}/healthz/live"]
    found = read_wrk(subprocess.run(told, check=True, capture_output=True, text=True).stdout)

    assert found.rate > 0
    assert 0 < found.p50 <= found.p99
