"""A node that does not boot says so in one line, and leaves nothing behind."""

import base64
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.instances import instance_type
from local.sandbox.hardware import Hardware
from local.sandbox.machine import BootError, Machine
from tests.unit.local.simulation.scripts import script


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    node = Hardware.whole(instance_type("trn1.2xlarge"), 0)
    found = Machine(tmp_path, node, script(), "http://127.0.0.1:1/latest", {})
    yield found
    found.power_off()


def user_data(text: str) -> str:
    body = base64.b64encode(text.encode()).decode()
    message = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
        f"--b\nContent-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n{body}\n--b--\n"
    )
    return base64.b64encode(message.encode()).decode()


def lives(pid: str) -> bool:
    """Whether it runs; whoever adopts a process that has ended may leave it in the table for a moment."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_user_data_that_fail_are_a_boot_that_failed(machine: Machine) -> None:
    with pytest.raises(BootError, match=r"^i-0123456789abcdef0: the user data ended with 7: see "):
        machine.boot(user_data("#!/bin/bash\nexit 7\n"))


def test_user_data_that_hang_are_a_boot_that_failed_and_are_ended(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.sandbox.machine._BOOT_SECONDS", 1.0)
    with pytest.raises(BootError, match=r"^i-0123456789abcdef0: the user data hangs after 1 s: see "):
        machine.boot(user_data("#!/bin/bash\n/bin/sleep 600 &\necho $! >opt/waits\nwait\n"))

    left, end = (machine.root / "opt/waits").read_text().strip(), time.monotonic() + 10
    while lives(left) and time.monotonic() < end:
        time.sleep(0.02)
    assert not lives(left)
