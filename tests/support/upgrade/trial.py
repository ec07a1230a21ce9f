"""A released version deployed to the embedded AWS and in use, this tree deployed over it, and the old one again."""

import contextlib
import json
import math
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from typer.testing import CliRunner

from cli.main import app
from environments import loader
from fleet import naming
from local.control import EmulatorControl
from local.deployment import ENVIRONMENT, CdkApp, put_blocks, put_secrets
from local.simulation.coordinator import Coordinator
from local.simulation.lockstep import SETTLE_SECONDS, wait_for_all
from local.simulation.placement import place
from local.simulation.scenario import Scenario
from tests.support.embedded_client import client
from tests.support.upgrade import assemblies, kept, releases
from tests.support.upgrade.synthesize import synthesize

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


def upgraded(version: str, folder: Path, control: EmulatorControl) -> Upgrade:
    """Deploy ``version``, let two of its nodes run, deploy this tree, let two more run beside them, and go back."""
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
            old_nodes = running.enter_context(
                ReleasedCoordinator(specs[:2], folder / "old-nodes", control.endpoint_url)
            )
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


class ReleasedCoordinator(Coordinator):
    """Runs nodes of 0.1.0, which read each horizon as a bare number."""

    def advance(self, minute_end: float) -> None:
        """Let every node live until ``minute_end`` and publish what it saw."""
        for node in self.nodes:
            node.write(str(minute_end + SETTLE_SECONDS).encode())
        wait_for_all(self.nodes)


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
