"""A node's systemd: what starts, what waits until it is told ready, what never starts, and what ends with the node."""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.sandbox.systemd import Systemd
from local.sandbox.units import load

READY = (
    "import os, socket, sys, time\n"
    "with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s: s.sendto(b'READY=1', os.environ['NOTIFY_SOCKET'])\n"
    "time.sleep(600)\n"
)


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    for name in ("etc/systemd/system", "run", "var/log"):
        (tmp_path / name).mkdir(parents=True)
    found = Systemd(tmp_path, dict(os.environ), lambda _unit, command, environment: (command, environment))
    yield found
    found.power_off()


def unit(systemd: Systemd, name: str, **settings: str) -> None:
    lines = [f"{key}={value}" for key, value in settings.items()]
    path = systemd.socket.parents[1] / "etc/systemd/system" / name
    path.write_text("\n".join(["[Service]", *lines]) + "\n")


def ask(systemd: Systemd, *arguments: str) -> dict[str, Any]:
    """As the stand-in for systemctl does."""
    with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rwb") as stream:
        connection.connect(str(systemd.socket))
        stream.write(json.dumps(arguments).encode() + b"\n")
        stream.flush()
        answer: dict[str, Any] = json.loads(stream.readline())
        return answer


def test_a_unit_that_notifies_has_started_when_it_says_so(systemd: Systemd, tmp_path: Path) -> None:
    script = tmp_path / "ready.py"
    script.write_text(READY)
    unit(systemd, "agent.service", Type="notify", ExecStart=f"{sys.executable} {script}")
    assert ask(systemd, "is-active", "agent.service") == {"code": 3, "text": "inactive\n"}
    assert ask(systemd, "restart", "agent.service") == {"code": 0, "text": ""}
    assert ask(systemd, "is-active", "--quiet", "agent.service") == {"code": 0, "text": ""}
    first = systemd.running["agent.service"]
    assert ask(systemd, "restart", "agent.service")["code"] == 0
    assert first.poll() is not None
    systemd.power_off()
    assert systemd.running["agent.service"].poll() is not None


def test_a_unit_that_ends_before_it_is_ready_has_failed(systemd: Systemd) -> None:
    unit(systemd, "agent.service", Type="notify", ExecStart="/bin/sh -c 'echo broken >&2; exit 7'")
    assert ask(systemd, "restart", "agent.service") == {"code": 1, "text": "Job for agent.service failed.\n"}
    assert systemd.failed == {"agent.service": 7}
    assert systemd.journal("agent.service").read_text() == "broken\n"


def test_what_must_come_before_keeps_a_unit_from_starting(systemd: Systemd, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    unit(systemd, "ecs.service", ExecStartPre="/bin/sh -c 'exit 1'", ExecStart=f"/bin/sh -c 'touch {mark}'")
    assert ask(systemd, "start", "ecs.service")["code"] == 1
    assert systemd.failed == {"ecs.service": 1}
    assert not mark.exists()


def test_what_runs_stays_when_it_is_started_again(systemd: Systemd) -> None:
    unit(systemd, "ecs.service", ExecStart="/bin/sleep 600")
    assert ask(systemd, "start", "ecs.service")["code"] == 0
    first = systemd.running["ecs.service"]
    assert [ask(systemd, "start", *option, "ecs.service")["code"] for option in ((), ("--no-block",))] == [0, 0]

    assert systemd.running["ecs.service"] is first
    assert first.poll() is None


def test_a_unit_that_is_not_ready_in_time_has_failed_and_does_not_run(
    systemd: Systemd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.sandbox.systemd._READY_SECONDS", 0.2)
    unit(systemd, "agent.service", Type="notify", ExecStart="/bin/sleep 600")

    assert ask(systemd, "restart", "agent.service")["code"] == 1
    assert ask(systemd, "is-active", "--quiet", "agent.service")["code"] == 3


def test_nothing_that_was_still_starting_outlives_the_node(systemd: Systemd, tmp_path: Path) -> None:
    """A boot that fails takes the power away while units start beside it."""
    waits, began = tmp_path / "waits", tmp_path / "began"
    wait = f"/bin/sh -c 'echo $$ >{waits}.new && mv {waits}.new {waits} && exec sleep 600'"
    unit(systemd, "agent.service", ExecStartPre=wait, ExecStart=f"/bin/sh -c 'touch {began}; exec sleep 600'")
    assert ask(systemd, "start", "--no-block", "agent.service")["code"] == 0
    while not waits.exists():
        time.sleep(0.01)
    (starting,) = (each for each in threading.enumerate() if each.name == "agent.service")
    systemd.power_off()

    starting.join(10)
    assert not starting.is_alive()
    with pytest.raises(ProcessLookupError):
        os.kill(int(waits.read_text()), 0)
    assert systemd.start(load(tmp_path, "agent.service")) is False
    assert not began.exists()


def test_what_systemctl_is_asked_is_written_down_and_unknown_things_are_refused(systemd: Systemd) -> None:
    unit(systemd, "x.service", ExecStart="/bin/true")
    assert ask(systemd, "start", "none.service") == {"code": 4, "text": "Unit none.service not found.\n"}
    assert ask(systemd, "mask", "x.service")["code"] == 1
    assert "ExecStart=/bin/true" in ask(systemd, "cat", "x.service")["text"]
    assert ask(systemd, "daemon-reload") == {"code": 0, "text": ""}
    assert systemd.calls == ["start none.service", "mask x.service", "cat x.service", "daemon-reload"]
