"""A deploy where there is no capacity: everything but the reservation that cannot be had is there afterwards."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from environments import loader
from environments.markets import Reservation
from environments.model import Environment
from fleet import naming
from local.control import EmulatorControl
from local.deployment import ENVIRONMENT, CdkApp, DeploymentError, deployed_stacks, put_secrets
from local.emulator_process import EmulatorProcess, aws_environment, listen, pointed_at
from stacks.platform import Platform
from tests.support.embedded_client import client
from tests.support.needs import needs
from tests.support.templates import cdk_context

NO_CAPACITY = "There is currently no available capacity for trn1.32xlarge in us-east-2c"
PREFIX = "neuron-fleet-local-"
FIRST, SECOND = f"{PREFIX}reservation-trn1-pretrain", f"{PREFIX}reservation-trn1-second"

pytestmark = [needs("the CDK command line"), pytest.mark.soak]


def two_reserved_fleets(instances: int) -> Environment:
    """The local environment and a second fleet with a reservation; the first's holds so many instances."""
    local = loader.load(ENVIRONMENT)
    market = Reservation(kind="reservation", instances=instances)
    first = local.fleets[0].model_copy(update={"market": market})
    second = local.fleets[0].model_copy(update={"name": "trn1-second", "nodes": 2})
    return local.model_copy(update={"fleets": (first, second, *local.fleets[1:])})


@dataclass(frozen=True)
class Account:
    """An embedded AWS, and deploys to it as a person makes them."""

    control: EmulatorControl
    directory: Path

    def deploy(self, name: str, environment: Environment, *, bootstrap: bool = False) -> None:
        directory = self.directory / name
        directory.mkdir()
        app = cdk.App(
            context=cdk_context(),
            outdir=str(directory / "cdk.out"),
            stack_traces=False,
            builtin_cloud_formation_validation=False,
        )
        Platform(app, environment.name, environment=environment)
        app.synth()
        command = CdkApp(environment, directory, dict(os.environ))
        if bootstrap:
            command.bootstrap()
        command.deploy()

    def refuse(self, *stacks: str) -> None:
        """Let reservations of these stacks fail, and of no others."""
        self.control.set_faults(
            [
                {
                    "call": "AWS::EC2::CapacityReservation",
                    "match": {"StackName": stack},
                    "error": {"code": "InsufficientInstanceCapacity", "message": NO_CAPACITY},
                }
                for stack in stacks
            ]
        )

    @staticmethod
    def statuses() -> dict[str, str]:
        return {stack.name: stack.status for stack in deployed_stacks(PREFIX)}

    @staticmethod
    def reservation(stack: str) -> tuple[str, int]:
        """The id of the active reservation that the stack holds, and how many instances it is for."""
        (held,) = client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
        wanted = [held["PhysicalResourceId"]]
        (found,) = client("ec2").describe_capacity_reservations(CapacityReservationIds=wanted)["CapacityReservations"]
        assert found["State"] == "active"
        return found["CapacityReservationId"], found["TotalInstanceCount"]


def look() -> None:
    """Let the deployed capacity watch look, as its clock does every minute."""
    resources = client("cloudformation").describe_stack_resources(StackName=f"{PREFIX}capacity-watch")
    (watch,) = (r for r in resources["StackResources"] if r["ResourceType"] == "AWS::Lambda::Function")
    answer = client("lambda").invoke(FunctionName=watch["PhysicalResourceId"], Payload=b"{}")
    assert "FunctionError" not in answer, answer["Payload"].read()


def events_of(fleet: str) -> list[dict[str, Any]]:
    """What the watch wrote of the fleet, oldest first."""
    found = client("logs").filter_log_events(logGroupName=naming.capacity_log_group(ENVIRONMENT))["events"]
    events = [json.loads(each["message"]) for each in found if each["message"].startswith("{")]
    return [event for event in events if event.get("kind") == "capacity" and event["fleet"] == fleet]


def write_again(event: dict[str, Any], minutes: int) -> None:
    """The same event so many minutes earlier: what the watch wrote, had it looked by then."""
    earlier = datetime.fromisoformat(event["minute"]) - timedelta(minutes=minutes)
    milliseconds = int(earlier.timestamp() * 1000)
    copy = event | {"minute": earlier.isoformat(), "_aws": event["_aws"] | {"Timestamp": milliseconds}}
    group, stream = naming.capacity_log_group(ENVIRONMENT), f"earlier-{minutes}"
    client("logs").create_log_stream(logGroupName=group, logStreamName=stream)
    line = {"timestamp": milliseconds, "message": json.dumps(copy)}
    client("logs").put_log_events(logGroupName=group, logStreamName=stream, logEvents=[line])


@pytest.fixture
def account(tmp_path: Path) -> Iterator[Account]:
    local = loader.load(ENVIRONMENT)
    with ExitStack() as stack:
        emulator = EmulatorProcess(listen(None), tmp_path / "emulator", parent=os.getpid())
        stack.callback(emulator.stop)
        url = emulator.control.endpoint_url
        stack.enter_context(pointed_at(aws_environment(url, local.account, local.region)))
        emulator.wait_until_ready()
        put_secrets(local, emulator.control)
        yield Account(emulator.control, tmp_path)


def test_a_reservation_that_cannot_be_had_takes_nothing_down_with_it(account: Account) -> None:
    account.refuse(FIRST)
    with pytest.raises(DeploymentError, match=NO_CAPACITY):
        account.deploy("refused", two_reserved_fleets(4), bootstrap=True)

    statuses = account.statuses()
    assert statuses.pop(FIRST) == "ROLLBACK_COMPLETE"
    # Every other stack, and the other fleet's reservation, which was tried all the same.
    assert statuses.keys() > {SECOND, f"{PREFIX}training", f"{PREFIX}inference", f"{PREFIX}operations"}
    assert set(statuses.values()) == {"CREATE_COMPLETE"}
    assert account.reservation(SECOND)[1] == 2
    # What the capacity watch reads to say why there is no capacity.
    events = client("cloudformation").describe_stack_events(StackName=FIRST)["StackEvents"]
    assert [NO_CAPACITY in e["ResourceStatusReason"] for e in events if e["ResourceStatus"] == "CREATE_FAILED"] == [
        True
    ]

    look()
    (event,) = events_of("trn1-pretrain")[-1:]
    # All of its four nodes are missing, and AWS's own words say why.
    assert (event["MissingNodes"], event["reserved"]) == (4, 0)
    assert NO_CAPACITY in event["reason"]
    for minutes in (1, 2):
        write_again(event, minutes)
    moved = account.control.set_clock(datetime.fromisoformat(event["minute"]).timestamp() + 120)
    assert ("local/trn1-pretrain/CapacityMissing", "ALARM") in [(each.alarm, each.after) for each in moved]
    assert "local/trn1-second/CapacityMissing" not in [each.alarm for each in moved if each.after == "ALARM"]
    (ticket,) = (m.body for m in account.control.inbox() if "CapacityMissing" in json.dumps(m.body))
    assert NO_CAPACITY in json.dumps(ticket)

    account.refuse()
    account.deploy("granted", two_reserved_fleets(4))
    assert set(account.statuses().values()) == {"CREATE_COMPLETE"}
    reservation, instances = account.reservation(FIRST)
    assert instances == 4

    account.refuse(FIRST)
    with pytest.raises(DeploymentError, match=NO_CAPACITY):
        account.deploy("more-refused", two_reserved_fleets(6))
    assert account.statuses()[FIRST] == "UPDATE_ROLLBACK_COMPLETE"
    assert account.reservation(FIRST) == (reservation, 4)

    account.refuse()
    account.deploy("more-granted", two_reserved_fleets(6))
    assert account.statuses()[FIRST] == "UPDATE_COMPLETE"
    assert account.reservation(FIRST) == (reservation, 6)
