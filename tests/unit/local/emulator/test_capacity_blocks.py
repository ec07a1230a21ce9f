"""A Capacity Block's whole life against the embedded AWS: found, asked for, approved, bought, delivered, drained, over.

The engine is called directly with its real adapters; only who signed the command is said instead of asked of STS.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from lambdas.capacity_blocks import adapters, commands, service
from lambdas.capacity_blocks.adapters import Settings
from lambdas.capacity_blocks.commands import Command, Wish
from local.control import EmulatorControl
from local.emulator_process import aws_environment, pointed_at
from tests.unit.local.emulator.conftest import Emulator, deploy, start_emulator

FLEET = "trn2-frontier"
ASKER = "arn:aws:iam::000000000000:role/researcher"
APPROVER = "arn:aws:iam::000000000000:role/buyer"
# Two trn2.48xlarge have 2 x 192 vCPUs.
VCPUS = 384


@pytest.fixture
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An account in the machine's own time, which is the time of the command line, until the test sets another."""
    running = start_emulator(tmp_path_factory.mktemp("blocks"))
    with pointed_at(aws_environment(running.url, "000000000000", "us-east-2")):
        yield running
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture
def deployed(account: Emulator) -> dict[str, Any]:
    """What the engine's environment says, but for the reservation that the fleet is launched into."""
    nodes = {
        "Type": "EC2",
        "MinvCpus": 0,
        "MaxvCpus": VCPUS,
        "InstanceTypes": ["trn2.48xlarge"],
        "InstanceRole": "node",
        "Subnets": ["subnet-1"],
    }
    environment = {"Type": "MANAGED", "ComputeResources": nodes}
    queue = {"Priority": 1, "ComputeEnvironmentOrder": [{"Order": 1, "ComputeEnvironment": {"Ref": "Nodes"}}]}
    key = {"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}
    ids = deploy(
        account,
        "blocks",
        {
            "Nodes": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": environment},
            "Queue": {"Type": "AWS::Batch::JobQueue", "Properties": queue},
            "Table": {
                "Type": "AWS::DynamoDB::Table",
                "Properties": {**key, "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]},
            },
            "Topic": {"Type": "AWS::SNS::Topic"},
            "Log": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/nodes"}},
        },
    )
    place = {
        "compute_environment": ids["Nodes"],
        "queue": ids["Queue"],
        "vcpus": 192,
        "instance_type": "trn2.48xlarge",
        "availability_zone": "us-east-2a",
    }
    return {
        "ENVIRONMENT": "local",
        "TABLE": ids["Table"],
        "TICKET_TOPIC": ids["Topic"],
        "NODE_LOG_GROUP": "/nodes",
        "STS_HOST": "sts.us-east-2.amazonaws.com",
        "APPROVERS": json.dumps([APPROVER]),
        "place": place,
    }


def _settings(deployed: dict[str, Any], reservation_id: str | None) -> Settings:
    place = {**deployed["place"], "reservation_id": reservation_id}
    return Settings.model_validate({**deployed, "PLACES": json.dumps({FLEET: place})})


def _ask(settings: Settings, action: str, at: datetime, wish: Wish | None = None) -> dict[str, Any]:
    command = Command.model_validate({"action": action, "request_id": "block-1", "wish": wish})
    aws = adapters.dependencies(settings)
    who = APPROVER if action == "approve" else ASKER
    answer = commands.run(command, "local", aws, lambda _url, _bound_to: who, at)
    (request,) = answer["requests"]
    return dict(request)


def test_a_block_is_found_bought_delivered_drained_and_over(account: Emulator, deployed: dict[str, Any]) -> None:
    control, now = EmulatorControl(account.url), datetime.now(UTC).replace(microsecond=0)
    searched = CliRunner().invoke(app, ["capacity", "search", "local", FLEET, "--hours", "24", "--days", "7", "--json"])
    assert searched.exit_code == 0, searched.output
    offer = json.loads(searched.output)[0]
    assert (offer["availability_zone"], offer["instances"]) == ("us-east-2a", 2)

    wish = Wish(
        fleet=FLEET, offering_id=offer["offering_id"], instances=2, hours=24, earliest=now,
        latest=now + timedelta(days=7),
    )  # fmt: skip
    settings = _settings(deployed, None)
    assert _ask(settings, "request", now, wish)["status"] == "requested"
    bought = _ask(settings, "approve", now)
    assert (bought["status"], bought["approved_by"]) == ("purchased", APPROVER)
    assert _ask(settings, "list", now)["reservation_id"] == bought["reservation_id"]

    start, end = (datetime.fromisoformat(offer[each]) for each in ("start", "end"))
    running = {"jobId": "j-1", "jobName": "pretrain", "status": "RUNNING"}
    control.put_jobs("us-east-2", deployed["place"]["queue"], [running])
    aws = adapters.dependencies(_settings(deployed, bought["reservation_id"]))
    batch, seen = account.client("batch"), []
    for at in (start - timedelta(minutes=1), start, end - timedelta(minutes=34), end):
        control.set_clock(at.timestamp())
        assert service.look(aws, at) == []
        (nodes,) = batch.describe_compute_environments()["computeEnvironments"]
        (job,) = batch.describe_jobs(jobs=["j-1"])["jobs"]
        seen.append((nodes["state"], nodes["computeResources"]["minvCpus"], job["status"]))

    assert seen == [
        ("ENABLED", 0, "RUNNING"),
        ("ENABLED", VCPUS, "RUNNING"),
        ("DISABLED", 0, "FAILED"),
        ("DISABLED", 0, "FAILED"),
    ]
