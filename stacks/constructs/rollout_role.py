"""What the rollout function may do: set shares, versions and nodes of its own endpoints, and read the rest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from aws_cdk import Acknowledgment, ArnFormat, Stack, Validations
from aws_cdk import aws_iam as iam

from fleet import naming
from fleet.alarms.functions import ROLLOUT
from fleet.compile_cache.artifact import ROOT

_LISTS: Final = "these actions read lists or register a description, and cannot be limited to a resource"
_STORE: Final = "the store's bucket is named by CloudFormation; only indexes of compiled graphs are read"
_READ_OF_ALL: Final = ("cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData")
_READ_OF_SIDES: Final = (
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeScalingActivities",
    "ecs:DescribeTaskDefinition",
    "ecs:ListTasks",
    "ecs:RegisterTaskDefinition",
    "elasticloadbalancing:DescribeRules",
    "elasticloadbalancing:DescribeTargetHealth",
)
_EXECUTIONS: Final = "executions of the one state machine have their names from rollouts"
# IAM: the inline policies of a role have 10,240 characters together, a managed policy 6,144, and a role 10 of those. An
# endpoint of the longest names takes some 1,200.
_ENDPOINTS_OF_A_POLICY: Final = 4
_GROUP: Final = "an Auto Scaling group gets its id and the end of its name when it is made; these are this stack's"


@dataclass(frozen=True, slots=True)
class EndpointParts:
    """Of one endpoint: whether its nodes follow its load; ARNs of the rule, of both services, of the tasks' roles."""

    fleet: str
    scales: bool
    rule: str
    services: tuple[str, ...]
    task_roles: tuple[str, ...]


def allow_rollouts(role: iam.Role, *, environment: str, machine: str, endpoints: Iterable[EndpointParts]) -> None:
    """Give ``role`` what rollouts of ``endpoints`` do. ``machine`` is the state machine's ARN."""
    parts, stack = list(endpoints), Stack.of(role)
    if parts:
        _allow_sides(role, environment, parts)
    store = _parameter(stack, naming.compile_cache_place_parameter(environment))
    places = [_parameter(stack, naming.rollout_place_parameter(environment, each.fleet)) for each in parts]
    _allow(role, "ssm:GetParameter", on=[*places, store])
    name = naming.artifact_bucket(environment, stack.account, stack.region)
    bucket = f"arn:{stack.partition}:s3:::{name}"
    index = f"{bucket}/{ROOT}/*/index.json"
    _allow(role, "s3:GetObject", on=[index])
    # Without it S3 answers 403 for what is not there, which is not the same as "not compiled".
    _allow(role, "s3:ListBucket", on=[bucket])
    _allow(role, "states:StartExecution", on=[machine])
    executions = f"{machine.replace(':stateMachine:', ':execution:')}:*"
    _allow(role, "states:DescribeExecution", on=[executions])
    _acknowledge(role, executions, _EXECUTIONS)
    _allow(
        role,
        *sorted((*_READ_OF_ALL, *(_READ_OF_SIDES if parts else ()))),
        on=["*"],
    )
    _acknowledge(role, "*", _LISTS)
    _acknowledge(role, index, _STORE)


def _allow_sides(role: iam.Role, environment: str, parts: Sequence[EndpointParts]) -> None:
    """What is done to the two sides of endpoints on nodes of ours."""
    _allow_endpoints(role, parts[:_ENDPOINTS_OF_A_POLICY])
    for start in range(_ENDPOINTS_OF_A_POLICY, len(parts), _ENDPOINTS_OF_A_POLICY):
        more = iam.ManagedPolicy(role, f"From{start}", roles=[role])
        _allow_endpoints(more, parts[start : start + _ENDPOINTS_OF_A_POLICY])
    _allow_on_groups(role, naming.stack_name(environment, ROLLOUT), "autoscaling:SetDesiredCapacity")
    if any(each.scales for each in parts):
        # The stable sides', which stand still during a rollout.
        stable = naming.stack_name(environment, "inference")
        _allow_on_groups(role, stable, "autoscaling:ResumeProcesses", "autoscaling:SuspendProcesses")
    stack = Stack.of(role)
    served = [_parameter(stack, naming.served_version_parameter(environment, each.fleet)) for each in parts]
    _allow(role, "ssm:PutParameter", on=served)


def _allow_endpoints(holder: iam.Role | iam.ManagedPolicy, parts: Sequence[EndpointParts]) -> None:
    _allow(holder, "elasticloadbalancing:ModifyRule", on=[each.rule for each in parts])
    services = [arn for each in parts for arn in each.services]
    _allow(holder, "ecs:DescribeServices", "ecs:UpdateService", on=services)
    _allow(
        holder,
        "iam:PassRole",
        on=[arn for each in parts for arn in each.task_roles],
        when={"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
    )


def _allow_on_groups(role: iam.Role, stack_name: str, *actions: str) -> None:
    # CloudFormation names what it makes by its stack.
    groups = Stack.of(role).format_arn(
        service="autoscaling",
        resource="autoScalingGroup",
        resource_name=f"*:autoScalingGroupName/{stack_name}-*",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    _allow(role, *actions, on=[groups])
    _acknowledge(role, groups, _GROUP)


def _parameter(stack: Stack, name: str) -> str:
    # The name begins with the slash that the ARN has before it.
    return stack.format_arn(service="ssm", resource="parameter", resource_name=name.removeprefix("/"))


def _allow(
    holder: iam.Role | iam.ManagedPolicy,
    *actions: str,
    on: Sequence[str],
    when: dict[str, dict[str, str]] | None = None,
) -> None:
    statement = iam.PolicyStatement(actions=list(actions), resources=list(on), conditions=when)
    if isinstance(holder, iam.Role):
        holder.add_to_policy(statement)
    else:
        holder.add_statements(statement)


def _acknowledge(role: iam.Role, resource: str, reason: str) -> None:
    Validations.of(role).acknowledge(Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=reason))
