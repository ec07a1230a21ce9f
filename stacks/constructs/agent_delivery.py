"""How the agent reaches its nodes: code as one asset, configuration as a parameter, user data to join them."""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Final

from aws_cdk import Annotations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import Fleet, InferenceFleet, TrainingFleet, pool_settings, without_job_minutes
from environments.monitoring import Monitoring
from fleet import naming
from fleet.capacity import InterfaceType, LaunchPlan
from fleet.fleet_spec import MarketKind
from fleet.without_job import WITHOUT_JOB_MINUTES
from stacks.agent_archive import archive
from stacks.constructs.price_access import agent_price_table

_PACKAGING: Final = archive.ROOT / "agents" / "packaging"
# The context key of the archive's path: tests, and who deploys to an emulator, say that there is none.
ARCHIVE_KEY: Final = "agent-archive"
_END: Final = "NEURON_FLEET_END"
_ECS_WAITS: Final = """[Service]
ExecStartPre=/bin/sh /opt/neuron-fleet/wait-for-gate.sh
TimeoutStartSec=20min
"""


class AgentCode(Construct):
    """The agent's archive: as ``make agent`` has made it, else made here of the code alone.

    Nodes learn where it lies, and its checksum, from a parameter and not from their launch template: a new agent must
    not replace nodes. Without the archive's wheels, nodes take the packages from the index, by the same lock file.
    """

    def __init__(self, scope: Construct, construct_id: str, *, environment: str) -> None:
        """Upload it.

        Raises:
            AgentArchiveError: the archive was made of other code than the project's folder holds.
        """
        super().__init__(scope, construct_id)
        content = self._content()
        checksum = hashlib.sha256(content).hexdigest()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "agent.zip"
            path.write_bytes(content)
            self._asset = s3_assets.Asset(self, "Code", path=str(path), asset_hash=checksum)
        self._location = ssm.StringParameter(
            self,
            "Location",
            parameter_name=_code_parameter(environment),
            # Both in one, so that no node ever compares one archive with the checksum of another.
            string_value=f"{self._asset.s3_object_url} {checksum}",
        )

    def _content(self) -> bytes:
        named = self.node.try_get_context(ARCHIVE_KEY)
        path = archive.ROOT / (archive.ARCHIVE if named is None else str(named))
        if path.is_file():
            return archive.checked(path)
        Annotations.of(self).add_warning_v2(
            "neuron-fleet:agent-code-only",
            f"{archive.ARCHIVE} is not there, so nodes install the agent's packages from the index at boot; "
            "`make agent` makes one that holds them",
        )
        return archive.pack(archive.code())

    def grant_read(self, role: iam.IRole) -> None:
        """Let ``role`` find and read this object; the asset's own grant would open the whole bucket."""
        code = self._asset.bucket.arn_for_objects(self._asset.s3_object_key)
        role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=[code]))
        role.add_to_principal_policy(
            iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[self._location.parameter_arn])
        )


def _code_parameter(environment: str) -> str:
    return naming.parameter_path(environment, "agent-code")


class AgentParameter(Construct):
    """One fleet's agent configuration, which its nodes read at boot."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: Fleet,
        plan: LaunchPlan,
        monitoring: Monitoring,
    ) -> None:
        """Write the parameter under the environment's path."""
        super().__init__(scope, construct_id)
        self.parameter = ssm.StringParameter(
            self,
            "Configuration",
            parameter_name=_agent_parameter(environment, fleet, plan),
            string_value=json.dumps(agent_configuration(environment, fleet, plan, monitoring), sort_keys=True),
        )


def _agent_parameter(environment: str, fleet: Fleet, plan: LaunchPlan) -> str:
    # Another type that a pool launches has other network cards and another price.
    name = plan.instance_type.name
    of_type = () if name == fleet.instance_type else (name,)
    return naming.parameter_path(environment, "agents", fleet.name, *of_type)


def agent_configuration(environment: str, fleet: Fleet, plan: LaunchPlan, monitoring: Monitoring) -> dict[str, object]:
    """What the agent is told, where it differs from the agent's own defaults. The node finds its instance id itself."""
    price = plan.price
    return {
        "environment": environment,
        "fleet": fleet.name,
        "owner": fleet.owner,
        "region": plan.spec.region,
        "purpose": fleet.purpose,
        "instance_type": plan.instance_type.name,
        "dtype": fleet.dtype,
        "lnc": fleet.lnc,
        "target_utilization_percent": fleet.target_utilization_percent,
        "reports_flops": fleet.reports_flops,
        "period_seconds": monitoring.period_seconds,
        "log_group": naming.node_log_group(environment),
        "price": price
        and {
            "usd_per_hour": price.usd_per_hour,
            "kind": price.kind.value,
            "source": price.source,
            "as_of": price.as_of,
        },
        **_price_table(environment, plan),
        **_without_job(fleet),
        **_gate(fleet, plan),
        **_exporters(monitoring),
    }


def _price_table(environment: str, plan: LaunchPlan) -> dict[str, object]:
    table = agent_price_table(environment, plan)
    return {"price_table": table} if table else {}


def _without_job(fleet: Fleet) -> dict[str, object]:
    # Left out where it is the agent's own default: an agent of a release before it would refuse to start with it.
    minutes = without_job_minutes(fleet) if isinstance(fleet, TrainingFleet) else WITHOUT_JOB_MINUTES
    return {} if minutes == WITHOUT_JOB_MINUTES else {"without_job_minutes": minutes}


def _gate(fleet: Fleet, plan: LaunchPlan) -> dict[str, object]:
    efa = sum(interface.kind is not InterfaceType.INTERFACE for interface in plan.network_interfaces)
    asked = {"efa_interfaces": efa, "driver": fleet.gate.driver, "tools": fleet.gate.tools}
    told = {name: value for name, value in asked.items() if value}
    return {"gate": told} if told else {}


def _exporters(monitoring: Monitoring) -> dict[str, object]:
    # Left out where they are off: the parameter of an environment without them stays as it is.
    # All of it is the agent's default: an agent of a release before levels would refuse to start with one.
    level = monitoring.otlp_level
    told: dict[str, object] = {} if level is None else {"otlp": {} if level == "cores" else {"level": level}}
    if monitoring.prometheus is not None:
        told["prometheus"] = {"address": str(monitoring.prometheus.address), "port": monitoring.prometheus.port}
    return told


def node_user_data(
    environment: str, fleet: Fleet, plan: LaunchPlan, *, cluster: str | None = None
) -> ec2.MultipartUserData:
    """What a node runs at its first boot. MIME multipart, because AWS Batch merges its own part into it.

    ``cluster``: the ECS cluster that it joins, where that is not the fleet's own.
    """
    shell = ec2.UserData.for_linux()
    # Only the nodes of the fleet's own cluster: those of a rollout's candidate have a group of their own.
    waits = cluster is None and isinstance(fleet, InferenceFleet) and bool(fleet.scaling and fleet.scaling.kept_stopped)
    if not isinstance(fleet, TrainingFleet) or fleet.is_pool:
        # First, so that a node serves even if the agent cannot be installed: silence has its own alarm.
        joins = cluster or naming.cluster_name(environment, fleet.name)
        shell.add_commands(*(f"echo {line} >> /etc/ecs/ecs.config" for line in _ecs_settings(joins, fleet, waits)))
    shell.add_commands(*_installer(environment, fleet, plan, waits))
    data = ec2.MultipartUserData()
    data.add_user_data_part(shell, ec2.MultipartBody.SHELL_SCRIPT, True)
    return data


def _ecs_settings(cluster: str, fleet: Fleet, waits: bool) -> list[str]:
    settings = [f"ECS_CLUSTER={cluster}"]
    if waits:
        # It registers when the group wants the node to serve, and not before (ECS developer guide, "Configuring
        # pre-initialized instances"; agent 1.59.0 and later).
        settings.append("ECS_WARM_POOLS_CHECK=true")
    if isinstance(fleet, TrainingFleet):
        # Between SIGTERM and SIGKILL a job saves its checkpoint; the ECS agent's own 30 s are too short for that.
        settings.append(f"ECS_CONTAINER_STOP_TIMEOUT={pool_settings(fleet).drain_minutes}m")
        if fleet.market_kind is MarketKind.SPOT:
            # A node with a notice takes no new container.
            settings.append("ECS_ENABLE_SPOT_INSTANCE_DRAINING=true")
    return settings


def _installer(environment: str, fleet: Fleet, plan: LaunchPlan, waits: bool) -> list[str]:
    """Leave the installer on the node and start it, without waiting for it.

    The ECS agent starts when user data has ended (amazon-ecs-init pull request 175), so nothing here takes long.
    What is written here is part of the launch template, whose change replaces nodes: what may change with the agent
    belongs into the bootstrap, which comes with the archive.
    """
    settings = {
        "AWS_DEFAULT_REGION": plan.spec.region,
        "CODE_PARAMETER": _code_parameter(environment),
        "CONFIG_PARAMETER": _agent_parameter(environment, fleet, plan),
        **({"WARM_POOL_PARAMETER": naming.warm_pool_parameter(environment, fleet.name)} if waits else {}),
    }
    unit = "neuron-fleet-install.service"
    return [
        *(_gate_before_ecs() if fleet.gate.required else []),
        "install -d -m 0755 /opt/neuron-fleet /etc/neuron-fleet",
        _file("/etc/neuron-fleet/install.env", "".join(f"{name}={value}\n" for name, value in settings.items())),
        _file("/opt/neuron-fleet/install.sh", (_PACKAGING / "install.sh").read_text(encoding="utf-8")),
        _file(f"/etc/systemd/system/{unit}", (_PACKAGING / unit).read_text(encoding="utf-8")),
        "systemctl daemon-reload",
        f"systemctl enable --quiet {unit}",
        f"systemctl start --no-block {unit} || echo 'neuron-fleet: {unit} does not start: no agent' >&2",
    ]


def _gate_before_ecs() -> list[str]:
    """Make the ECS agent wait for the health gate: no agent of ECS, no job."""
    return [
        "install -d -m 0755 /opt/neuron-fleet /etc/systemd/system/ecs.service.d",
        _file("/opt/neuron-fleet/wait-for-gate.sh", (_PACKAGING / "wait-for-gate.sh").read_text(encoding="utf-8")),
        _file("/etc/systemd/system/ecs.service.d/neuron-fleet-gate.conf", _ECS_WAITS),
    ]


def _file(path: str, content: str) -> str:
    return f"cat >{path} <<'{_END}'\n{content}{_END}"
