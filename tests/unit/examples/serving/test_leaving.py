"""A server that was told to end: no longer ready, and still answering until the load balancer has noticed."""

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from stacks.constructs import serving
from tests.support.served_standin import ROOT, free_port, wait
from workload.serving import leaving

COMMAND = [sys.executable, "-m", "examples.serving", "--standin", "--seconds", "0.01", "--port"]


def post(address: str) -> int:
    body = json.dumps({"prompt": "one two", "max_tokens": 2}).encode()
    request = urllib.request.Request(  # noqa: S310 - its own address
        f"{address}/v1/completions", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - its own address
        return int(answer.status)


def readiness(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"{address}/healthz/ready", timeout=5) as answer:  # noqa: S310 - its own address
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.parametrize(("seconds", "answers"), [("3", True), ("", False)])
def test_it_answers_on_where_a_load_balancer_asks_for_its_health(tmp_path: Path, seconds: str, answers: bool) -> None:
    told = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "NEURON_FLEET_SERVING_FOLDER": str(tmp_path),
        "NEURON_FLEET_LEAVING_SECONDS": seconds,
    }  # fmt: skip
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([*COMMAND, str(port)], cwd=ROOT, env=told, stdout=log, stderr=log)
    try:
        wait(address, process)
        assert post(address) == 200
        process.send_signal(signal.SIGTERM)
        if answers:
            for _ in range(50):
                code, said = readiness(address)
                if "told to end" in said:
                    break
                time.sleep(0.05)
            assert (code, "told to end" in said) == (503, True)
            assert post(address) == 200
        # As Uvicorn does it: cleaned up, and then ended by the signal it was sent.
        assert process.wait(20) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()


def test_the_deployed_task_leaves_before_ecs_kills_it() -> None:
    assert serving.LEAVING_SECONDS == leaving.NOTICED_SECONDS
    assert serving.STOP_SECONDS > serving.LEAVING_SECONDS + 55
