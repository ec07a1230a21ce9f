"""A node's systemd: starts units in their own sessions, knows which are active, and answers the stand-in systemctl.

Of unit files it takes what the node's units need: ExecStartPre, ExecStart, Type, Environment, EnvironmentFile. It
restarts nothing by itself, and none of the limits of a unit is applied.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from local.sandbox.boot_data import inside
from local.sandbox.units import NoUnitError, Unit, load

# What a node may take to be ready, in real seconds, whatever the unit's own limit.
_READY_SECONDS: Final = 90.0
_NOT_ACTIVE: Final = 3
_NO_UNIT: Final = 4
Replace = Callable[[Unit, list[str], dict[str, str]], tuple[list[str], dict[str, str]]]


class Systemd:
    """Serves one node below ``root``. ``replace`` may change a unit's command and environment before it is run."""

    def __init__(self, root: Path, environment: Mapping[str, str], replace: Replace) -> None:
        self._root, self._environment, self._replace = root, environment, replace
        self.socket = root / "run/systemd.sock"
        self.calls: list[str] = []
        self.failed: dict[str, int] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        # What has to end with the node, and whether it has ended: units start in threads of their own.
        self._started: list[subprocess.Popen[bytes]] = []
        self._is_off = False
        self._power = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket))
        self._listener.listen(16)
        threading.Thread(target=self._serve, name="systemd", daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), name="systemctl", daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as stream:
            code, text = self.systemctl(json.loads(stream.readline()))
            with contextlib.suppress(OSError):
                stream.write(json.dumps({"code": code, "text": text}).encode() + b"\n")
                stream.flush()

    def systemctl(self, arguments: list[str]) -> tuple[int, str]:
        """Exit code and output of ``systemctl ARGUMENTS``."""
        self.calls.append(" ".join(arguments))
        verb, *rest = arguments
        options = {each for each in rest if each.startswith("--")}
        name = next((each for each in rest if each not in options), "")
        if verb in ("daemon-reload", "enable"):
            return 0, ""
        try:
            unit = load(self._root, name)
        except NoUnitError as error:
            return _NO_UNIT, f"{error}\n"
        match verb:
            case "is-active":
                code, word = (0, "active\n") if self.is_active(name) else (_NOT_ACTIVE, "inactive\n")
                answer = code, "" if "--quiet" in options else word
            case "cat":
                answer = 0, unit.text
            case "start" if self.is_active(name):
                answer = 0, ""
            case "start" if "--no-block" in options:
                threading.Thread(target=self.start, args=(unit,), name=name, daemon=True).start()
                answer = 0, ""
            case "start" | "restart":
                self._stop(name)
                answer = (0, "") if self.start(unit) else (1, f"Job for {name} failed.\n")
            case _:
                answer = 1, f"the stand-in for systemctl does not know {verb}\n"
        return answer

    def is_active(self, name: str) -> bool:
        """Whether the unit's process runs."""
        process = self.running.get(name)
        return process is not None and process.poll() is None

    def start(self, unit: Unit) -> bool:
        """What comes before, then the unit itself; True when it has started, or has told that it is ready."""
        environment = {name: inside(value, str(self._root)) for name, value in unit.environment(self._root).items()}
        environment = {**self._environment, **environment}
        for command in unit.commands("ExecStartPre"):
            before = self._run(unit, command, environment)
            code = 1 if before is None else before.wait()
            self._forget(before)
            if code:
                self.failed[unit.name] = code
                return False
        if unit.last("Type") == "notify":
            return self._start_and_wait(unit, environment)
        return self._run(unit, unit.commands("ExecStart")[0], environment, is_it=True) is not None

    def _start_and_wait(self, unit: Unit, environment: dict[str, str]) -> bool:
        # One for each start: the end of the process before it is told to nobody else.
        address = self._root / f"run/notify-{len(self.calls)}.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(str(address))
            notify.settimeout(_READY_SECONDS)
            environment = {**environment, "NOTIFY_SOCKET": str(address)}
            process = self._run(unit, unit.commands("ExecStart")[0], environment, is_it=True)
            if process is None:
                return False
            threading.Thread(target=_wake, args=(process, address), name="ended", daemon=True).start()
            with contextlib.suppress(TimeoutError):
                if notify.recv(4096).startswith(b"READY=1"):
                    return True
        self.failed[unit.name] = process.poll() or 1
        self._stop(unit.name)
        return False

    def _run(
        self, unit: Unit, command: list[str], environment: dict[str, str], *, is_it: bool = False
    ) -> subprocess.Popen[bytes] | None:
        """A process of the unit, ``is_it``: the unit's own; None: there is no power any more."""
        own = [inside(argument, str(self._root)) for argument in command]
        own, environment = self._replace(unit, own, environment)
        # Who tells that it is ready is spoken to afterwards: the agent, about its virtual time.
        is_spoken_to = is_it and unit.last("Type") == "notify"
        with self._power, self.journal(unit.name).open("ab") as log:
            if self._is_off:
                return None
            process = subprocess.Popen(
                own,
                stdin=subprocess.PIPE if is_spoken_to else subprocess.DEVNULL,
                stdout=subprocess.PIPE if is_spoken_to else log,
                stderr=log,
                env=environment,
                cwd=self._root,
                start_new_session=True,
            )
            self._started.append(process)
            if is_it:
                self.running[unit.name] = process
            return process

    def journal(self, name: str) -> Path:
        """Where the unit's output lies."""
        return self._root / "var/log" / f"{name}.log"

    def _stop(self, name: str) -> None:
        process = self.running.pop(name, None)
        if process is not None:
            _kill(process)
            self._forget(process)

    def _forget(self, process: subprocess.Popen[bytes] | None) -> None:
        # Its number may soon be another process's.
        with self._power:
            if process in self._started:
                self._started.remove(process)

    def power_off(self) -> None:
        """Everything ends at once, as without power."""
        # Else the thread would wait at the closed socket for ever.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._power:
            self._is_off = True
            ending, self._started = self._started, []
        for process in ending:
            _kill(process)


def _wake(process: subprocess.Popen[bytes], address: Path) -> None:
    """Whoever waits for the process to be ready is told that it never will be."""
    process.wait()
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.sendto(b"EXITED", str(address))


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
