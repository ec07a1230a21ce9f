"""What a node of a fleet may do: be a container instance, be reached by Session Manager, and report about itself."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import Acknowledgment, ArnFormat, CrossStackReferences, ReferenceStrength, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import Fleet, TrainingFleet
from fleet import naming
from fleet.capacity import LaunchPlan
from fleet.metrics import NAMESPACE
from stacks.constructs.price_access import allow_node as allow_price
from stacks.constructs.rights import allow_pull

# Batch creates the cluster and chooses its name.
BATCH_CLUSTERS: Final = "*Batch*"

_UNSCOPED: Final = "these actions have no resource: they concern the instance that calls them"
_BATCH: Final = "AWS Batch creates the cluster and names it, so only the pattern of its names is known"
_INSTANCE: Final = "a container instance gets its id when it registers"
_STREAM: Final = "log streams are named by instances and tasks that do not exist yet"


class NodeRole(Construct):
    """Attributes: ``role`` and ``profile``. Each fleet has its own, so that a node reads only its own configuration."""

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one thing that a node's rights depend on
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: Fleet,
        plans: Sequence[LaunchPlan],
        parameters: Sequence[ssm.IStringParameter],
        otlp: bool,
    ) -> None:
        """Make the role of one fleet's nodes, launched by one of ``plans``; with ``otlp`` they send series over it."""
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description=f"Nodes of {fleet.name}",
        )
        self.profile = iam.InstanceProfile(self, "Profile", role=self.role)
        # Training refers to the one and a warm pool to the other: exports would keep the fleet in the file for ever.
        CrossStackReferences.of(self.profile).produce(ReferenceStrength.WEAK)
        CrossStackReferences.of(self.role).produce(ReferenceStrength.WEAK)
        self._allow_reporting(environment, parameters, otlp=otlp)
        allow_price(self.role, environment, plans)
        self._allow_session_manager()
        self._allow_containers(environment, fleet)

    def _allow(self, *actions: str, on: list[str], when: dict[str, dict[str, str]] | None = None) -> None:
        self.role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=on, conditions=when))

    def _acknowledge(self, resource: str, reason: str) -> None:
        Validations.of(self.role).acknowledge(
            Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=reason)
        )

    def _allow_reporting(self, environment: str, parameters: Sequence[ssm.IStringParameter], *, otlp: bool) -> None:
        # Series that come over OTLP have no namespace, so a plain comparison refuses them. CloudWatch user guide,
        # "Using condition keys to limit access to CloudWatch namespaces".
        compare = "StringEqualsIfExists" if otlp else "StringEquals"
        self._allow("cloudwatch:PutMetricData", on=["*"], when={compare: {"cloudwatch:namespace": NAMESPACE}})
        for group in (naming.node_log_group(environment), naming.job_log_group(environment)):
            streams = Stack.of(self).format_arn(
                service="logs",
                resource="log-group",
                resource_name=f"{group}:*",
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            self._allow("logs:CreateLogStream", "logs:PutLogEvents", on=[streams])
            self._acknowledge(streams, _STREAM)
        self._allow("ssm:GetParameter", on=[parameter.parameter_arn for parameter in parameters])

    def _allow_session_manager(self) -> None:
        # What AmazonSSMManagedInstanceCore grants for Session Manager and inventory, without its right to read
        # every parameter of the account.
        self._allow(
            "ssm:UpdateInstanceInformation",
            "ssmmessages:CreateControlChannel",
            "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel",
            "ssmmessages:OpenDataChannel",
            "ec2messages:AcknowledgeMessage",
            "ec2messages:DeleteMessage",
            "ec2messages:FailMessage",
            "ec2messages:GetEndpoint",
            "ec2messages:GetMessages",
            "ec2messages:SendReply",
            on=["*"],
        )
        self._acknowledge("*", _UNSCOPED)

    def _allow_containers(self, environment: str, fleet: Fleet) -> None:
        # AmazonEC2ContainerServiceforEC2Role, but for this fleet's cluster and images only.
        batch = isinstance(fleet, TrainingFleet) and not fleet.is_pool
        name = BATCH_CLUSTERS if batch else naming.cluster_name(environment, fleet.name)
        # The nodes of an endpoint's new version have the same role, and a cluster of their own.
        serves = not isinstance(fleet, TrainingFleet)
        names = [name, naming.candidate_cluster_name(environment, fleet.name)] if serves else [name]
        form = Stack.of(self).format_arn
        clusters = [form(service="ecs", resource="cluster", resource_name=each) for each in names]
        instances = [form(service="ecs", resource="container-instance", resource_name=f"{each}/*") for each in names]
        self._allow("ecs:DiscoverPollEndpoint", on=["*"])
        self._allow(
            "ecs:RegisterContainerInstance",
            "ecs:DeregisterContainerInstance",
            "ecs:SubmitContainerStateChange",
            "ecs:SubmitTaskStateChange",
            "ecs:SubmitAttachmentStateChanges",
            on=clusters,
        )
        self._allow("ecs:Poll", "ecs:StartTelemetrySession", "ecs:UpdateContainerInstancesState", on=instances)
        self._allow(
            "ecs:TagResource", on=instances, when={"StringEquals": {"ecs:CreateAction": "RegisterContainerInstance"}}
        )
        for instance in instances:
            self._acknowledge(instance, _INSTANCE)
        if batch:
            self._acknowledge(clusters[0], _BATCH)
        allow_pull(
            self.role, fleet.container_image if isinstance(fleet, TrainingFleet) else fleet.endpoint.container_image
        )
