"""A released version, deployed to the embedded AWS and in use, and this tree deployed over it as a user would."""

import contextlib
import json
import math
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from typer.testing import CliRunner

from cli.main import app
from environments import loader
from fleet import naming
from local.control import EmulatorControl
from local.deployment import ENVIRONMENT, CdkApp, missing_tools, put_blocks, put_secrets
from local.endpoint import client
from local.simulation.coordinator import SETTLE_SECONDS, Coordinator
from local.simulation.placement import place
from local.simulation.scenario import Scenario
from local.training.bill import events
from tests.support import doctored
from tests.support.upgrade import assemblies, kept, releases
from tests.support.upgrade.data import DATA
from tests.support.upgrade.synthesize import synthesize

pytestmark = pytest.mark.skipif(
    missing_tools() is not None and "CI" not in os.environ, reason="the CDK command line is not installed"
)

FLEET: Final = "trn1-pretrain"
JOB: Final = "llama-7b"
ENDPOINT: Final = "inf2-chat"
ALARM: Final = f"{ENVIRONMENT}/{FLEET}/HardwareFault"
# Minutes of the old nodes alone, and of old and new ones together.
BEFORE: Final = 5
TOGETHER: Final = 60
CHANGES: Final = "upgrade"
_LIMIT_SECONDS: Final = 120.0
RUNNING: Final[dict[str, Any]] = {"kind": "running", "tensor_engine_percent": 42, "core_percent": 97}
SCENARIO: Final = Scenario.model_validate(
    {
        "name": "upgrade",
        "title": "Two nodes that are there already, and two that come with the new version",
        "minutes": BEFORE + TOGETHER,
        "fleets": {FLEET: {"job": {"id": JOB, "name": "llama", "owner": "ana"}, "phases": [{"at": 0, **RUNNING}]}},
    }
)


@dataclass
class Upgrade:
    """What was there before the update, after it, and after the released version was deployed over it again."""

    version: str
    before: dict[tuple[str, str], kept.Held]
    after: dict[tuple[str, str], kept.Held]
    back: dict[tuple[str, str], kept.Held]
    alarms_before: dict[str, tuple[str, Any]]
    alarms_after: dict[str, tuple[str, Any]]
    endangered: list[str]
    served: str
    old_nodes: list[str]
    new_nodes: list[str]
    booked_before: dict[str, Any]
    booked: dict[str, Any]
    booked_back: dict[str, Any]
    lost: list[str]


@pytest.fixture(scope="module", params=releases.RELEASES)
def upgrade(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgrade]:
    version: str = request.param
    releases.required(version)
    folder = tmp_path_factory.mktemp("upgrade")
    with doctored.embedded_account(folder) as control:
        yield upgraded(version, folder, control)


def upgraded(version: str, folder: Path, control: EmulatorControl) -> Upgrade:
    environment = loader.load(ENVIRONMENT)
    old, new = (CdkApp(environment, folder / name, dict(os.environ)) for name in ("old", "new"))
    with ThreadPoolExecutor(1) as beside:
        released = beside.submit(assemblies.written, version, folder / "old", ENVIRONMENT)
        synthesize(folder / "new", [ENVIRONMENT])
        released.result()
    for name in ("old", "new"):
        (folder / name / ENVIRONMENT).rename(folder / name / "cdk.out")
    start = math.floor(time.time() / 60 - SCENARIO.minutes - 1) * 60.0
    control.set_clock(start)
    old.bootstrap()
    put_secrets(environment, control)
    put_blocks(environment, control)
    old.deploy()
    before = kept.held(ENVIRONMENT)
    kept.write(before)
    served = serve_another_version()
    specs = place(SCENARIO, environment, start, folder / "nodes")
    late = [msgspec.structs.replace(spec, start=start + 60 * BEFORE) for spec in specs[2:]]
    with contextlib.ExitStack() as running:
        with contextlib.chdir(releases.tree(version)):
            # Its modules are those of the folder that it starts in.
            old_nodes = running.enter_context(Coordinator(specs[:2], folder / "old-nodes", control.endpoint_url))
        for minute in range(1, BEFORE + 1):
            live(start + 60 * minute, control, old_nodes)
        client("cloudwatch").set_alarm_state(AlarmName=ALARM, StateValue="ALARM", StateReason="before the update")
        alarms_before, booked_before = kept.alarms(ENVIRONMENT), roll_up(before)
        look(folder / "new")
        endangered = kept.endangered(ENVIRONMENT, CHANGES)
        new.deploy()
        alarms_after, after = kept.alarms(ENVIRONMENT), kept.held(ENVIRONMENT)
        new_nodes = running.enter_context(Coordinator(late, folder / "new-nodes", control.endpoint_url))
        for minute in range(BEFORE + 1, BEFORE + TOGETHER + 1):
            live(start + 60 * minute, control, old_nodes, new_nodes)
    names = [spec.script.node for spec in specs]
    booked, lost = roll_up(after), kept.lost(before)
    old.deploy()
    back = kept.held(ENVIRONMENT)
    return Upgrade(
        version, before, after, back, alarms_before, alarms_after, endangered, served, names[:2], names[2:],
        booked_before, booked, roll_up(back), lost,
    )  # fmt: skip


def live(end: float, control: EmulatorControl, *nodes: Coordinator) -> None:
    """One virtual minute of the nodes, and of the alarms."""
    for each in nodes:
        each.advance(end)
    control.set_clock(end + SETTLE_SECONDS)


def look(folder: Path) -> None:
    """Change sets of every stack, which nobody executes."""
    subprocess.run(
        ["cdk", "deploy", "**", "--app", str(folder / "cdk.out"), "--method", "prepare-change-set",
         "--change-set-name", CHANGES, "--require-approval", "never", "--concurrency", "4", "--no-notices",
         "--no-version-reporting"],
        check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=_LIMIT_SECONDS,
    )  # fmt: skip


def serve_another_version() -> str:
    """What a rollout does at its end: another revision of the task, told to the service and to the parameter."""
    ecs = client("ecs")
    family = naming.endpoint_family(ENVIRONMENT, ENDPOINT)
    task = ecs.describe_task_definition(taskDefinition=family)["taskDefinition"]
    parts = {name: task[name] for name in ("family", "containerDefinitions", "volumes") if name in task}
    revision: str = ecs.register_task_definition(**parts)["taskDefinition"]["taskDefinitionArn"]
    cluster = naming.cluster_name(ENVIRONMENT, ENDPOINT)
    (service,) = ecs.list_services(cluster=cluster)["serviceArns"]
    ecs.update_service(cluster=cluster, service=service, taskDefinition=revision)
    name = naming.served_version_parameter(ENVIRONMENT, ENDPOINT)
    client("ssm").put_parameter(Name=name, Value=revision, Overwrite=True)
    return revision


def roll_up(found: dict[tuple[str, str], kept.Held]) -> dict[str, Any]:
    """What the ledger's function that is deployed now books, as `fleet ledger` shows it."""
    stack = naming.stack_name(ENVIRONMENT, "ledger")
    (name,) = (
        each.physical_id for each in found.values() if (each.stack, each.kind) == (stack, "AWS::Lambda::Function")
    )
    answer = client("lambda").invoke(FunctionName=name, Payload=b"{}")
    said = answer["Payload"].read().decode()
    assert "FunctionError" not in answer, said
    assert json.loads(said)["unreadable"] == 0, said
    # The scenario may have begun the day before.
    today = datetime.now(UTC).date()
    days = ["--from", str(datetime.fromtimestamp(time.time() - 86_400, UTC).date()), "--to", str(today)]
    shown = CliRunner().invoke(app, ["ledger", ENVIRONMENT, *days, "--by", "job", "--json"])
    assert shown.exit_code == 0, shown.output
    told: dict[str, Any] = json.loads(shown.stdout)
    return told


def test_cloudformation_would_replace_nothing_that_holds_data(upgrade: Upgrade) -> None:
    assert upgrade.endangered == []


def test_everything_that_holds_data_is_the_same_afterwards(upgrade: Upgrade) -> None:
    with_data = {place: each for place, each in upgrade.before.items() if each.kind in DATA}
    assert {each.kind for each in with_data.values()} >= {
        "AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::EFS::FileSystem", "AWS::Logs::LogGroup", "AWS::KMS::Key",
        "AWS::SNS::Topic", "AWS::SNS::Subscription", "AWS::SQS::Queue", "AWS::KinesisFirehose::DeliveryStream",
    }  # fmt: skip
    for now in (upgrade.after, upgrade.back):
        assert {each: now.get(place) for place, each in with_data.items() if now.get(place) != each} == {}


def test_what_was_written_before_is_read_afterwards(upgrade: Upgrade) -> None:
    assert upgrade.lost == []


def test_what_was_written_before_is_read_when_the_released_version_is_back(upgrade: Upgrade) -> None:
    assert kept.lost(upgrade.before) == []
    assert upgrade.booked_back == upgrade.booked


def test_no_alarm_is_lost_and_each_keeps_its_state(upgrade: Upgrade) -> None:
    assert upgrade.alarms_before[ALARM][0] == "ALARM"
    changed = {
        name: (was, upgrade.alarms_after.get(name))
        for name, was in upgrade.alarms_before.items()
        if upgrade.alarms_after.get(name) != was
    }
    assert changed == {}


def test_what_a_rollout_serves_is_served_afterwards(upgrade: Upgrade) -> None:
    name = naming.served_version_parameter(ENVIRONMENT, ENDPOINT)
    cluster = naming.cluster_name(ENVIRONMENT, ENDPOINT)
    ecs = client("ecs")
    (service,) = ecs.describe_services(cluster=cluster, services=ecs.list_services(cluster=cluster)["serviceArns"])[
        "services"
    ]
    assert client("ssm").get_parameter(Name=name)["Parameter"]["Value"] == upgrade.served == service["taskDefinition"]


def test_old_and_new_agents_write_every_minute_of_the_hour(upgrade: Upgrade) -> None:
    found = [event for event in events(ENVIRONMENT) if event.get("fleet") == FLEET and "seq" in event]
    of = {node: {event["agent_version"] for event in found if event["node"] == node} for node in upgrade.old_nodes}
    minutes = Counter(event["node"] for event in found if event["state"] != "BLIND")

    assert list(of.values()) == [{upgrade.version}] * 2
    assert len({event["agent_version"] for event in found if event["node"] in upgrade.new_nodes}) == 1
    assert minutes == {
        **dict.fromkeys(upgrade.old_nodes, BEFORE + TOGETHER), **dict.fromkeys(upgrade.new_nodes, TOGETHER)
    }  # fmt: skip


def test_the_ledger_has_every_minute_of_both_to_the_cent(upgrade: Upgrade) -> None:
    """The released function has booked the first minutes, and the new one goes on with what that one left."""
    price = next(Decimal(str(event["price"]["usd_per_hour"])) for event in events(ENVIRONMENT) if event.get("price"))
    for told, minutes in ((upgrade.booked_before, 2 * BEFORE), (upgrade.booked, 2 * BEFORE + 4 * TOGETHER)):
        (job,) = (row for row in told["rows"] if row["name"] == JOB)
        assert Decimal(job["usd"]) == price * minutes / 60
        assert (round(job["node_hours"] * 60), job["unpriced_node_hours"]) == (minutes, 0)
