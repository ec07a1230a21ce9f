"""Starting the embedded AWS as a process of its own, on a port that is free.

How programs of this machine are pointed at the embedded AWS, and nowhere else.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, NoReturn
from unittest.mock import patch

from local.control import EmulatorControl
from local.processes import stop

FIRST_PORT: Final = 4566
_PORTS_TRIED: Final = 50
_READY_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.1
_BACKLOG: Final = 128


class EmulatorStartError(RuntimeError):
    """The embedded AWS could not be started; the message says what to do."""


class EmulatorProcess:
    """One embedded AWS; ``stop`` leaves nothing of it behind."""

    def __init__(self, listener: socket.socket, directory: Path, *, parent: int | None) -> None:
        """Start it on ``listener``, which becomes its own; with ``parent`` it also ends when that process does."""
        self.control = EmulatorControl(f"http://127.0.0.1:{listener.getsockname()[1]}")
        self.log_file = directory / "output.log"
        directory.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "local.emulator", "--listener", str(listener.fileno())]
        command += ["--state-directory", str(directory)]
        command += ["--parent", str(parent)] if parent is not None else []
        # This process keeps no copy: when the emulator has ended, a request is refused and does not wait.
        with listener, self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
                start_new_session=True,
                pass_fds=[listener.fileno()],
            )

    def wait_until_ready(self) -> None:
        """Return when it answers.

        Raises:
            EmulatorStartError: It ended, or does not answer in time.
        """
        deadline = time.monotonic() + _READY_SECONDS
        while self.control.status() is None:
            if self.process.poll() is not None:
                raise self._failure(f"ended with exit code {self.process.returncode}")
            if time.monotonic() > deadline:
                raise self._failure(f"was not ready within {_READY_SECONDS:.0f} s")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """End it and everything that it started."""
        stop(self.process)

    def _failure(self, what: str) -> EmulatorStartError:
        tail = self.log_file.read_text(encoding="utf-8", errors="replace").splitlines()[-8:]
        return EmulatorStartError("\n".join([f"the embedded AWS {what}; the end of {self.log_file}:", *tail]))


def listen(wanted: int | None) -> socket.socket:
    """Listen on ``wanted``, else on the first free port from 4566 upward; nobody else can take it in between.

    Raises:
        EmulatorStartError: ``wanted`` is taken, or no port is free.
    """
    if wanted is not None:
        return _listen(wanted) or _refuse(wanted, "--port")
    for port in range(FIRST_PORT, FIRST_PORT + _PORTS_TRIED):
        if listener := _listen(port):
            return listener
    raise EmulatorStartError(f"no port from {FIRST_PORT} to {FIRST_PORT + _PORTS_TRIED - 1} is free: pass --port")


def refuse_taken(port: int, option: str) -> None:
    """Return if ``port``, which a person chose with ``option``, can be listened on.

    Raises:
        EmulatorStartError: It is taken.
    """
    listener = _listen(port)
    if listener is None:
        _refuse(port, option)
    listener.close()


def _refuse(port: int, option: str) -> NoReturn:
    raise EmulatorStartError(f"port {port} is in use: choose another with {option}, or leave {option} out")


def _listen(port: int) -> socket.socket | None:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        return None
    return listener


# Not a secret: the embedded AWS accepts any pair, and a real account accepts none of this kind.
_CREDENTIALS: Final = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def aws_environment(endpoint_url: str, account: str, region: str) -> dict[str, str]:
    """This process's environment with every AWS setting replaced: no profile or credential of a person is used."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    return {
        **own,
        **_CREDENTIALS,
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DEFAULT_ACCOUNT": account,
        "CDK_DEFAULT_REGION": region,
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "true",
        "CI": "true",
        "NO_COLOR": "1",
    }


def pointed_at(environment: Mapping[str, str]) -> AbstractContextManager[Any]:
    """This process itself under ``environment``, until the context ends."""
    return patch.dict(os.environ, environment, clear=True)
