"""One embedded AWS for the whole session, started as a person starts it."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

ROOT = Path(__file__).parents[4]
READY_WITHIN_SECONDS = 30


@dataclass(frozen=True)
class Emulator:
    """A running emulator: its address, its process, and the two ways to talk to it."""

    url: str
    process: subprocess.Popen[bytes]

    def client(self, service: str) -> Any:
        return boto3.client(
            service,  # type: ignore[call-overload]  # the stubs want a literal
            endpoint_url=self.url,
            region_name="us-east-2",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def call(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data=data), timeout=30) as answer:  # noqa: S310  a local address
            return json.load(answer)


Start = Callable[..., Emulator]


def start_emulator(port: int, state: Path, *arguments: str) -> Emulator:
    """Start an emulator and wait until it answers."""
    command = [sys.executable, "-m", "local.emulator", "--port", str(port), "--state-directory", str(state), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    emulator = Emulator(f"http://127.0.0.1:{port}", process)
    deadline = time.monotonic() + READY_WITHIN_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            emulator.call("/_local/status")
        except urllib.error.URLError:
            select_nothing(0.05)
        else:
            return emulator
    raise RuntimeError(f"the emulator on port {port} did not become ready; exit code {process.poll()}")


def select_nothing(seconds: float) -> None:
    """Give the other process the time to get ready."""
    import select

    select.select([], [], [], seconds)


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    running = start_emulator(free_port(), tmp_path_factory.mktemp("emulator"))
    yield running
    running.process.terminate()
    running.process.wait(timeout=15)


def free_port() -> int:
    """A port that nothing listens on at this moment."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
