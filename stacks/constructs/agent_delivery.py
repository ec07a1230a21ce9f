"""How the agent reaches its nodes: code as one asset, configuration as a parameter, user data to join them."""

import json
from pathlib import Path
from typing import Final

from aws_cdk import IgnoreMode
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.model import Environment, Fleet, InferenceFleet, Monitoring
from fleet import naming
from fleet.capacity import LaunchPlan

PROJECT_FOLDER: Final = Path(__file__).parents[2]
INSTALL_FOLDER: Final = "/opt/neuron-fleet"


class AgentCode(Construct):
    """The agent and the domain that it imports, as one zip: nothing else of the project changes its hash.

    Nodes learn where it lies from a parameter, not from their launch template: a new agent must not replace nodes.
    """

    def __init__(self, scope: Construct, construct_id: str, *, environment: Environment) -> None:
        """Take ``agents/`` and ``fleet/`` from the project's folder."""
        super().__init__(scope, construct_id)
        self._asset = s3_assets.Asset(
            self,
            "Code",
            path=str(PROJECT_FOLDER),
            exclude=["*", "!agents", "!agents/**", "!fleet", "!fleet/**", "**/__pycache__"],
            ignore_mode=IgnoreMode.DOCKER,
        )
        self._location = ssm.StringParameter(
            self,
            "Location",
            parameter_name=_code_parameter(environment),
            string_value=self._asset.s3_object_url,
        )

    def grant_read(self, role: iam.IRole) -> None:
        """Let ``role`` find and read this object; the asset's own grant would open the whole bucket."""
        code = self._asset.bucket.arn_for_objects(self._asset.s3_object_key)
        role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=[code]))
        role.add_to_principal_policy(
            iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[self._location.parameter_arn])
        )


def _code_parameter(environment: Environment) -> str:
    return naming.parameter_path(environment.name, "agent-code")


class AgentParameter(Construct):
    """One fleet's agent configuration, which its nodes read at boot."""

    def __init__(
        self, scope: Construct, construct_id: str, *, environment: Environment, fleet: Fleet, plan: LaunchPlan
    ) -> None:
        """Write the parameter under the environment's path."""
        super().__init__(scope, construct_id)
        self.parameter = ssm.StringParameter(
            self,
            "Configuration",
            parameter_name=naming.parameter_path(environment.name, "agents", fleet.name),
            string_value=json.dumps(agent_configuration(environment, fleet, plan), sort_keys=True),
        )


def agent_configuration(environment: Environment, fleet: Fleet, plan: LaunchPlan) -> dict[str, object]:
    """What the agent is told, where it differs from the agent's own defaults. The node finds its instance id itself."""
    price = plan.price
    return {
        "environment": environment.name,
        "fleet": fleet.name,
        "owner": fleet.owner,
        "region": environment.region,
        "purpose": fleet.purpose,
        "instance_type": fleet.instance_type,
        "dtype": fleet.dtype,
        "lnc": fleet.lnc,
        "target_utilization_percent": fleet.target_utilization_percent,
        "reports_flops": fleet.reports_flops,
        "period_seconds": environment.monitoring.period_seconds,
        "log_group": naming.node_log_group(environment.name),
        "price": price
        and {
            "usd_per_hour": price.usd_per_hour,
            "kind": price.kind.value,
            "source": price.source,
            "as_of": price.as_of,
        },
        **_exporters(environment.monitoring),
    }


def _exporters(monitoring: Monitoring) -> dict[str, object]:
    # Left out where they are off: the parameter of an environment without them stays as it is.
    told: dict[str, object] = {"otlp": {}} if monitoring.otlp else {}
    if monitoring.prometheus is not None:
        told["prometheus"] = {"address": str(monitoring.prometheus.address), "port": monitoring.prometheus.port}
    return told


def node_user_data(environment: Environment, fleet: Fleet) -> ec2.MultipartUserData:
    """What a node runs at its first boot. MIME multipart, because AWS Batch merges its own part into it."""
    shell = ec2.UserData.for_linux()
    if isinstance(fleet, InferenceFleet):
        # First, so that a node serves even if the agent cannot be installed: silence has its own alarm.
        cluster = naming.cluster_name(environment.name, fleet.name)
        shell.add_commands(f"echo ECS_CLUSTER={cluster} >> /etc/ecs/ecs.config")
    configuration = naming.parameter_path(environment.name, "agents", fleet.name)
    shell.add_commands(
        "set -euo pipefail",
        f"export AWS_DEFAULT_REGION={environment.region}",
        # The ECS-optimized images come without them.
        "dnf install --assumeyes --quiet awscli-2 unzip",
        f"code=$(aws ssm get-parameter --name {_code_parameter(environment)} --query Parameter.Value --output text)",
        f"install --directory --mode 0755 {INSTALL_FOLDER}",
        f'aws s3 cp --no-progress "$code" {INSTALL_FOLDER}/agent.zip',
        f"unzip -q -o {INSTALL_FOLDER}/agent.zip -d {INSTALL_FOLDER}/agent",
        f"bash {INSTALL_FOLDER}/agent/agents/packaging/bootstrap.sh"
        f" --config-parameter {configuration} --region {environment.region}",
    )
    data = ec2.MultipartUserData()
    data.add_user_data_part(shell, ec2.MultipartBody.SHELL_SCRIPT, True)
    return data
