"""The example server with its stand-in model as a process of its own, on a free port."""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PATIENCE = 60.0


@contextmanager
def served(folder: Path, *arguments: str, told: Mapping[str, str] | None = None) -> Iterator[str]:
    """Its address, once it answers; what it remembers of its runtime goes into ``folder``. ``told``: more variables."""
    port = free_port()
    command = [sys.executable, "-m", "examples.serving", "--standin", "--port", str(port), *arguments]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "NEURON_FLEET_SERVING_FOLDER": str(folder)}
    environment |= told or {}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        wait(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def free_port() -> int:
    """One that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait(address: str, process: "subprocess.Popen[bytes]") -> None:
    """Until it answers and its buckets have run."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/healthz/ready", timeout=5).read()  # noqa: S310 - its own address
        except urllib.error.HTTPError as error:
            with error:
                # Its watch asks the runtime every ten seconds; the buckets have run by themselves.
                if b"have not run" not in error.read():
                    return
        except OSError:
            pass
        else:
            return
        time.sleep(0.05)
    raise AssertionError(f"the stand-in at {address} does not answer")
