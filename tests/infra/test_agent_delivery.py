"""How the agent reaches its nodes: which archive is uploaded, what user data leaves on a node."""

import base64
import hashlib
import os
import re
import subprocess
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match, Template

from environments import loader
from environments.alarms import alarm_settings
from environments.fleet_specs import fleet_spec
from environments.fleets import Fleet, FleetAlarms, Gate, Pool
from environments.markets import OnDemand
from fleet.capacity import compile_fleet
from fleet.fleet_spec import Engine
from stacks.agent_archive import archive
from stacks.agent_archive.archive import AgentArchiveError
from stacks.constructs.agent_delivery import AgentCode, agent_configuration, node_user_data
from tests.support.synthesis import app_run
from tests.support.templates import PROJECT_FOLDER, new_app, templates

EACH = [(name, fleet.name) for name in loader.available() for fleet in loader.load(name).fleets]
PACKAGING = PROJECT_FOLDER / "agents" / "packaging"
# EC2's limit is on the data before it is encoded for the API; AWS Batch puts parts of its own beside ours.
EC2_LIMIT = 16 * 1024
BATCH_SHARE = 4 * 1024


def evaluated(value: Any) -> bytes:
    """What CloudFormation makes of strings joined and encoded."""
    match value:
        case str():
            return value.encode()
        case {"Fn::Base64": inner}:
            return base64.b64encode(evaluated(inner))
        case {"Fn::Join": [separator, parts]}:
            return str(separator).encode().join(evaluated(part) for part in parts)
    raise AssertionError(f"not made of literals: {value}")


def user_data(environment: str, fleet: str) -> bytes:
    """The bytes that a node of the fleet is handed."""
    template = templates(environment)["capacity"].resource("AWS::EC2::LaunchTemplate", under=f"{fleet}/Launch/")
    return base64.b64decode(evaluated(template.properties["LaunchTemplateData"]["UserData"]))


def shell_part(environment: str, fleet: str) -> str:
    """The script in it, as cloud-init reads it."""
    (part,) = (part for part in message_from_bytes(user_data(environment, fleet)).walk() if not part.is_multipart())
    assert part.get_content_type() == "text/x-shellscript"
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode()


@pytest.mark.parametrize(("environment", "fleet"), EACH)
def test_user_data_leaves_room_under_its_limit_for_what_batch_adds(environment: str, fleet: str) -> None:
    data = user_data(environment, fleet)

    assert data.startswith(b"Content-Type: multipart/mixed")
    assert len(data) <= EC2_LIMIT - BATCH_SHARE


def run_user_data(tmp_path: Path, environment: str, fleet: str, systemctl: str) -> subprocess.CompletedProcess[str]:
    """Run it in a folder that stands for /, where ``systemctl`` is this script."""
    script = re.sub(r"(?<![\w/])/(opt|etc)/", rf"{tmp_path}/\1/", shell_part(environment, fleet))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "systemctl").write_text(f"#!/bin/sh\necho $* >>{tmp_path}/calls\n{systemctl}\n")
    (tmp_path / "bin" / "systemctl").chmod(0o755)
    for folder in ("ecs", "systemd/system"):
        (tmp_path / "etc" / folder).mkdir(parents=True)
    path = f"{tmp_path}/bin:/usr/bin:/bin"
    return subprocess.run(
        ["bash", "-c", script], env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60
    )


def test_user_data_leaves_the_installer_on_the_node_and_starts_it_without_waiting(tmp_path: Path) -> None:
    run = run_user_data(tmp_path, "prod", "trn1-pretrain", "exit 0")

    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    installed = (tmp_path / "opt/neuron-fleet/install.sh").read_text()
    assert installed == re.sub(r"(?<![\w/])/(opt|etc)/", rf"{tmp_path}/\1/", (PACKAGING / "install.sh").read_text())
    assert (tmp_path / "etc/systemd/system/neuron-fleet-install.service").exists()
    assert (tmp_path / "etc/neuron-fleet/install.env").read_text() == (
        f"AWS_DEFAULT_REGION={loader.load('prod').region}\n"
        "CODE_PARAMETER=/neuron-fleet/prod/agent-code\n"
        "CONFIG_PARAMETER=/neuron-fleet/prod/agents/trn1-pretrain\n"
    )
    assert (tmp_path / "calls").read_text().splitlines() == [
        "daemon-reload",
        "enable --quiet neuron-fleet-install.service",
        "start --no-block neuron-fleet-install.service",
    ]


def test_a_node_knows_its_cluster_also_when_the_installer_cannot_be_started(tmp_path: Path) -> None:
    run = run_user_data(tmp_path, "prod", "inf2-chat", "exit 1")

    assert (tmp_path / "etc/ecs/ecs.config").read_text() == "ECS_CLUSTER=neuron-fleet-prod-inf2-chat\n"
    assert run.returncode == 0
    assert run.stderr.endswith("neuron-fleet: neuron-fleet-install.service does not start: no agent\n")


def test_the_agent_of_ecs_waits_for_the_health_gate(tmp_path: Path) -> None:
    run_user_data(tmp_path, "prod", "inf2-chat", "exit 0")

    waits = (tmp_path / "etc/systemd/system/ecs.service.d/neuron-fleet-gate.conf").read_text()
    assert waits == (
        f"[Service]\nExecStartPre=/bin/sh {tmp_path}/opt/neuron-fleet/wait-for-gate.sh\nTimeoutStartSec=20min\n"
    )
    assert (tmp_path / "opt/neuron-fleet/wait-for-gate.sh").read_text() == (PACKAGING / "wait-for-gate.sh").read_text()


def test_a_fleet_whose_gate_is_not_required_lets_every_node_join() -> None:
    environment = loader.load("prod")
    fleet = environment.inference_fleets[0]
    lax = fleet.model_copy(update={"gate": Gate(required=False)})

    def waits(of: Fleet) -> bool:
        plan = compile_fleet(fleet_spec(environment, of))
        data = cdk.Stack().resolve(node_user_data(environment.name, of, plan).render())
        (part,) = (part for part in message_from_bytes(evaluated(data)).walk() if not part.is_multipart())
        return b"wait-for-gate" in part.get_payload(decode=True)

    assert waits(fleet)
    assert not waits(lax)


def test_the_agent_is_told_what_the_gate_asks_for() -> None:
    environment = loader.load("prod")
    training, inference = environment.training_fleets[0], environment.inference_fleets[0]
    pinned = inference.model_copy(update={"gate": Gate(driver="2.25", tools="2.33")})

    def told(fleet: Fleet) -> object:
        plan = compile_fleet(fleet_spec(environment, fleet))
        return agent_configuration(environment.name, fleet, plan, environment.monitoring).get("gate")

    assert told(training) == {"efa_interfaces": 8}
    assert told(inference) is None
    assert told(pinned) == {"driver": "2.25", "tools": "2.33"}


def test_the_agent_is_told_for_how_long_it_may_have_no_job_where_that_is_not_its_own_default() -> None:
    environment = loader.load("prod")
    reserved, inference = environment.training_fleets[0], environment.inference_fleets[0]
    on_demand = reserved.model_copy(update={"market": OnDemand(kind="on-demand")})
    pool = on_demand.model_copy(update={"engine": Engine.POOL, "pool": Pool(idle_minutes=60)})
    asked = reserved.model_copy(update={"alarms": FleetAlarms(without_job_minutes=45)})

    def told(fleet: Fleet) -> object:
        plan = compile_fleet(fleet_spec(environment, environment.training_fleets[0]))
        return agent_configuration(environment.name, fleet, plan, environment.monitoring).get("without_job_minutes")

    assert [told(fleet) for fleet in (reserved, on_demand, pool, asked, inference)] == [120, None, 80, 45, None]
    for fleet, minutes in ((reserved, 120), (on_demand, 30), (pool, 80), (asked, 45)):
        assert alarm_settings(environment, fleet).without_job_minutes == minutes


def synthesized(path: str) -> cdk.Stack:
    app = new_app(**{"agent-archive": path})
    place = cdk.Environment(account="111111111111", region="us-east-2")
    stack = cdk.Stack(app, "capacity", env=place)
    AgentCode(stack, "AgentCode", environment="dev")
    return stack


def location(stack: cdk.Stack) -> tuple[str, str]:
    (parameter,) = Template.from_stack(stack).find_resources("AWS::SSM::Parameter").values()
    address, _, checksum = parameter["Properties"]["Value"].partition(" ")
    return address, checksum


def uploaded(stack: cdk.Stack) -> bytes:
    assembly = Path(cdk.Stage.of(stack).synth().directory)  # type: ignore[union-attr]  # a stack is in a stage
    (path,) = assembly.glob("asset.*.zip")
    return path.read_bytes()


def test_the_archive_is_what_is_uploaded_and_its_checksum_lies_beside_its_address(tmp_path: Path) -> None:
    made = archive.pack(archive.code(), {"six-1.17.0-py2.py3-none-any.whl": b"wheel"})
    (tmp_path / "agent.zip").write_bytes(made)

    stack = synthesized(str(tmp_path / "agent.zip"))

    checksum = hashlib.sha256(made).hexdigest()
    address, said = location(stack)
    assert said == checksum
    assert re.fullmatch(r"s3://cdk-\S+-assets-\S+/[0-9a-f]{64}\.zip", address)
    assert uploaded(stack) == made
    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


def test_without_an_archive_the_code_goes_alone_with_a_warning_that_names_the_remedy(tmp_path: Path) -> None:
    stack = synthesized(str(tmp_path / "none.zip"))

    content = uploaded(stack)
    (tmp_path / "uploaded.zip").write_bytes(content)
    names = zipfile.ZipFile(tmp_path / "uploaded.zip").namelist()
    assert location(stack)[1] == hashlib.sha256(content).hexdigest()
    assert {"agents/main.py", "agents/requirements.lock", "fleet/metrics.py", "manifest.json"} <= set(names)
    assert not [name for name in names if name.startswith(("wheels/", "stacks/", "tests/")) or "__pycache__" in name]
    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp("`make agent`"))


def test_an_archive_of_other_code_ends_the_synthesis_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "old.zip").write_bytes(archive.pack(archive.Code({"agents/main.py": b"of last week"})))

    with pytest.raises(AgentArchiveError) as error:
        synthesized(str(tmp_path / "old.zip"))

    assert str(error.value) == (f"{tmp_path}/old.zip: made of other code than is here now; run `make agent`")


def test_the_app_says_so_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "old.zip").write_bytes(b"not a zip")

    made = app_run({"env": "dev", "agent-archive": str(tmp_path / "old.zip")})

    assert made.refusal == (
        f"{tmp_path}/old.zip: not an archive of the agent (File is not a zip file); run `make agent`"
    )
    assert made.written == {}


def test_nothing_here_depends_on_the_time_or_on_where_it_runs(tmp_path: Path) -> None:
    before = archive.pack(archive.code())
    copy = tmp_path / "elsewhere"
    for name, content in archive.code().files.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(content)
        os.utime(copy / name, (0, 1_000_000_000))

    assert archive.pack(archive.code(copy)) == before
