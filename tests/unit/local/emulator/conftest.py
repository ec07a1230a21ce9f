"""One embedded AWS for the whole session, started as a person starts it."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.control import EmulatorControl

# A moment at which Capacity Blocks begin.
START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
ROOT = Path(__file__).parents[4]


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


def start_emulator(state: Path, *arguments: str) -> Emulator:
    """Start an emulator on a free port; it prints its address when requests can be sent."""
    command = [sys.executable, "-m", "local.emulator", "--port", "0", "--state-directory", str(state), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as output:
        return Emulator(output.readline().decode().strip(), process)


def deploy(account: Emulator, name: str, resources: dict[str, Any], *, update: bool = False) -> dict[str, str]:
    """Deploy a stack of these resources, and answer their physical ids."""
    stacks = account.client("cloudformation")
    send, waiter = (stacks.update_stack, "update") if update else (stacks.create_stack, "create")
    tags = [{"Key": "owner", "Value": "foundation"}]
    send(StackName=name, TemplateBody=json.dumps({"Resources": resources}), Tags=tags)
    stacks.get_waiter(f"stack_{waiter}_complete").wait(StackName=name, WaiterConfig={"Delay": 0.1})
    found = stacks.describe_stack_resources(StackName=name)["StackResources"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}


def shown_reservation(ec2: Any, reservation_id: str) -> dict[str, Any]:
    """One reservation as EC2 shows it."""
    (found,) = ec2.describe_capacity_reservations(CapacityReservationIds=[reservation_id])["CapacityReservations"]
    return dict(found)


def now_in(account: Emulator) -> datetime:
    """The virtual time."""
    return datetime.fromtimestamp(account.call("/_local/status")["now"], UTC)


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    running = start_emulator(tmp_path_factory.mktemp("emulator"))
    yield running
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An account for one module, whose tests set its clock and count what is there; its time begins at ``START``."""
    running = start_emulator(tmp_path_factory.mktemp("capacity"))
    EmulatorControl(running.url).set_clock(START.timestamp())
    yield running
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture(scope="module")
def control(account: Emulator) -> EmulatorControl:
    return EmulatorControl(account.url)


@pytest.fixture(scope="module")
def ec2(account: Emulator) -> Any:
    return account.client("ec2")
