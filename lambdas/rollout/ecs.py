"""The sides of a rollout as ECS has them: two services on nodes of their own, behind one listener's rule."""

from typing import TYPE_CHECKING, Final, cast

from fleet.rollout.facts import RolloutPlace, Side, SidePlace

if TYPE_CHECKING:
    from mypy_boto3_autoscaling import AutoScalingClient
    from mypy_boto3_autoscaling.type_defs import AutoScalingGroupTypeDef
    from mypy_boto3_ecs import ECSClient
    from mypy_boto3_ecs.type_defs import RegisterTaskDefinitionRequestTypeDef, ServiceTypeDef, TaskDefinitionTypeDef
    from mypy_boto3_elbv2 import ElasticLoadBalancingv2Client
    from mypy_boto3_elbv2.type_defs import ActionTypeDef, TargetGroupTupleTypeDef
    from mypy_boto3_ssm import SSMClient

# What DescribeTaskDefinition answers beyond what RegisterTaskDefinition takes (API references of both).
_ANSWERED_ONLY: Final = frozenset({
    "taskDefinitionArn", "revision", "status", "requiresAttributes", "compatibilities", "registeredAt", "registeredBy",
    "deregisteredAt",
})  # fmt: skip
_LOOKED_AT: Final = 5
# EC2 Auto Scaling user guide, "Suspend and resume processes": without it a group takes no notice of alarms, those of
# target tracking and of step scaling alike, and lost nodes are replaced as ever.
_SCALES: Final = "AlarmNotification"


class WeightsError(Exception):
    """The rule is not one with the two target groups of the endpoint."""


class Listener:
    """The weights, in one rule of the listener, and the health of targets."""

    def __init__(self, balancer: "ElasticLoadBalancingv2Client") -> None:
        self._balancer = balancer

    def weights(self, place: RolloutPlace) -> tuple[int, int]:
        """Percent of the requests for the stable side and for the candidate, read from the rule.

        Weights are shares of their sum: 1 to 1 is read as 50 to 50.

        Raises:
            WeightsError: the rule has other target groups.
        """
        (rule,) = self._balancer.describe_rules(RuleArns=[place.rule])["Rules"]
        (action,) = rule["Actions"]
        groups = action.get("ForwardConfig", {}).get("TargetGroups", [])
        weights = {group["TargetGroupArn"]: int(group.get("Weight", 1)) for group in groups}
        if weights.keys() != {place.stable.target_group, place.candidate.target_group} or not sum(weights.values()):
            raise WeightsError(f"rule {place.rule} forwards to {weights}, not to the endpoint's two target groups")
        candidate = round(100 * weights[place.candidate.target_group] / sum(weights.values()))
        return 100 - candidate, candidate

    def set_weights(self, place: RolloutPlace, candidate: int) -> None:
        """Send ``candidate`` percent to the candidate and the rest to the stable side, in one call."""
        shares = {place.stable.target_group: 100 - candidate, place.candidate.target_group: candidate}
        groups: list[TargetGroupTupleTypeDef] = [
            {"TargetGroupArn": arn, "Weight": weight} for arn, weight in shares.items()
        ]
        forward: ActionTypeDef = {"Type": "forward", "ForwardConfig": {"TargetGroups": groups}}
        self._balancer.modify_rule(RuleArn=place.rule, Actions=[forward])

    def healthy(self, side: SidePlace) -> int:
        """Targets that the load balancer calls healthy."""
        answer = self._balancer.describe_target_health(TargetGroupArn=side.target_group)
        return sum(each["TargetHealth"]["State"] == "healthy" for each in answer["TargetHealthDescriptions"])


class EcsServices:
    """The two services, and the parameter from which deployments read what the stable side runs."""

    def __init__(self, ecs: "ECSClient", ssm: "SSMClient") -> None:
        self._ecs, self._ssm = ecs, ssm

    def of(self, side: SidePlace) -> Side:
        """What runs there, by the service's deployments."""
        service = self._describe(side)
        deployments = service["deployments"]
        running = frozenset(str(each["taskDefinition"]) for each in deployments if each.get("runningCount"))
        # A deployment that ECS has rolled back by itself is settled as well; the version says that it is another one.
        settled = all(each.get("rolloutState", "COMPLETED") == "COMPLETED" for each in deployments)
        return Side(versions=running, is_settled=settled and len(deployments) == 1)

    def tasks(self, side: SidePlace) -> tuple[str, ...]:
        """Ids of the tasks that run: what the agent calls their jobs."""
        pages = self._ecs.get_paginator("list_tasks").paginate(
            cluster=side.cluster, serviceName=side.service, desiredStatus="RUNNING"
        )
        return tuple(arn.rpartition("/")[2] for page in pages for arn in page["taskArns"])

    def target(self, side: SidePlace) -> str:
        """The task definition that the service is told to run."""
        return str(self._describe(side)["taskDefinition"])

    def run(self, side: SidePlace, version: str) -> None:
        """Make the service run ``version``."""
        self._ecs.update_service(cluster=side.cluster, service=side.service, taskDefinition=version)

    def newest(self, place: RolloutPlace) -> str:
        """What was deployed last: a family without a revision is its newest active one."""
        return str(self._definition(place)["taskDefinitionArn"])

    def register(self, place: RolloutPlace, image: str) -> str:
        """What was deployed last, with another image."""
        definition = self._definition(place)
        request = {
            **{key: value for key, value in definition.items() if key not in _ANSWERED_ONLY},
            # In a family of its own: the newest of the endpoint's family is what the environment's file says.
            "family": f"{place.family}-by-image",
            "containerDefinitions": [
                {**container, "image": image} if container["name"] == place.container else container
                for container in definition["containerDefinitions"]
            ],
        }
        registered = self._ecs.register_task_definition(**cast("RegisterTaskDefinitionRequestTypeDef", request))
        return str(registered["taskDefinition"]["taskDefinitionArn"])

    def keep(self, place: RolloutPlace, version: str) -> None:
        """Let deployments leave the stable side at ``version``."""
        self._ssm.put_parameter(Name=place.version_parameter, Value=version, Overwrite=True)

    def _describe(self, side: SidePlace) -> "ServiceTypeDef":
        answer = self._ecs.describe_services(cluster=side.cluster, services=[side.service])
        if not answer["services"]:
            raise LookupError(f"there is no service {side.service} in cluster {side.cluster}")
        return answer["services"][0]

    def _definition(self, place: RolloutPlace) -> "TaskDefinitionTypeDef":
        return self._ecs.describe_task_definition(taskDefinition=place.family)["taskDefinition"]


class ScalingGroup:
    """The candidate's nodes, asked for when needed and let go after its last answer; whether the stable ones scale."""

    def __init__(self, autoscaling: "AutoScalingClient") -> None:
        self._autoscaling = autoscaling

    def ask_for(self, side: SidePlace, nodes: int) -> None:
        """Make ``nodes`` the number that the group should have."""
        if self.wanted(side) != nodes:
            self._autoscaling.set_desired_capacity(
                AutoScalingGroupName=side.group, DesiredCapacity=nodes, HonorCooldown=False
            )

    def lacking(self, side: SidePlace) -> str:
        """Why there are fewer than asked for, in AWS's words; empty where the newest attempt did not fail."""
        answer = self._autoscaling.describe_scaling_activities(AutoScalingGroupName=side.group, MaxRecords=_LOOKED_AT)
        newest = next(iter(answer["Activities"]), None)
        if newest is None or newest.get("StatusCode") != "Failed":
            return ""
        return str(newest.get("StatusMessage", ""))

    def wanted(self, side: SidePlace) -> int:
        """How many the group is to have."""
        return int(self._group(side)["DesiredCapacity"])

    def let_scale(self, side: SidePlace, scales: bool) -> None:
        """Let the group follow the load, or keep it as it is."""
        stands_still = self.stands_still(side)
        if scales and stands_still:
            self._autoscaling.resume_processes(AutoScalingGroupName=side.group, ScalingProcesses=[_SCALES])
        if not scales and not stands_still:
            self._autoscaling.suspend_processes(AutoScalingGroupName=side.group, ScalingProcesses=[_SCALES])

    def stands_still(self, side: SidePlace) -> bool:
        """Whether the group takes no notice of its load."""
        return _SCALES in {each["ProcessName"] for each in self._group(side).get("SuspendedProcesses", ())}

    def _group(self, side: SidePlace) -> "AutoScalingGroupTypeDef":
        groups = self._autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[side.group])
        if not groups["AutoScalingGroups"]:
            raise LookupError(f"there is no Auto Scaling group {side.group}")
        return groups["AutoScalingGroups"][0]
