"""An endpoint of two sides in virtual time, behind the clients that rollouts call: with delays, throttles, time-outs.

Weights, services, targets, nodes, items and executions are held as AWS holds them, and the adapters are the real ones;
only CloudWatch's figures and the store of compiled graphs are told to the test's world directly.
"""

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any, cast

from botocore.exceptions import ClientError

from fleet.load_balancer import EndpointNames
from fleet.rollout.facts import Minute, RolloutPlace, Side, SidePlace
from fleet.rollout.plan import Gates, Plan
from lambdas.rollout.ecs import EcsServices, Listener, ScalingGroup
from lambdas.rollout.executions import StateMachine
from lambdas.rollout.objects import ArtifactStore, ShadowReports
from lambdas.rollout.ports import Dependencies, Window
from lambdas.rollout.store import Table
from tests.support.client_shapes import shaped

START = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
_EXECUTIONS = "arn:aws:states:r:a:execution:rollout:"
OLD, NEW = "arn:aws:ecs:r:a:task-definition/chat:7", "arn:aws:ecs:r:a:task-definition/chat:8"
PLAN = Plan(
    bake_minutes=3,
    min_requests=20,
    ready_minutes=30,
    traffic_minutes=10,
    promotion_minutes=60,
    pause_hours=1,
    gates=Gates(runtime_errors=None),
)


def side(name: str) -> SidePlace:
    names = EndpointNames("app/chat/1", f"targetgroup/{name}/2")
    return SidePlace(
        cluster=name, service=f"{name}-service", target_group=f"arn:{name}", group=f"{name}-group", names=names
    )


PLACE = RolloutPlace(
    environment="prod",
    fleet="chat",
    nodes=4,
    rule="arn:rule",
    stable=side("stable"),
    candidate=side("candidate"),
    family="neuron-fleet-prod-chat",
    container="endpoint",
    version_parameter="/neuron-fleet/prod/served/chat",
    plan=PLAN,
    shadow_bucket="shadow",
)


class LambdaTimeoutError(Exception):
    """The function's time was over, in the middle of something."""


@dataclass
class Half:
    """One side as it really is. A service takes its new version, and nodes come, minutes after they were asked for."""

    target: str
    running: str
    nodes: int
    healthy: int
    moved_at: datetime = START
    asked_at: datetime = START
    asked: int = 0
    minutes: list[Minute] = field(default_factory=list)


@dataclass
class Candidate:
    """How the new version does: the share of 5xx, its p99 in seconds, whether it ever is healthy."""

    error_percent: float = 0.0
    p99: float = 0.2
    is_healthy: bool = True
    reports: bytes | None = None
    """What each of its tasks writes of recorded requests once it is healthy; None: nothing."""


class Endpoint:
    """Answers every client's calls; ``disturb`` is asked before and after each of them, and may raise."""

    place = PLACE

    def __init__(self, candidate: Candidate | None = None, requests_per_minute: int = 600) -> None:
        self.now = START
        self.candidate_does = candidate or Candidate()
        self.requests_per_minute = requests_per_minute
        self.halves = {
            "stable": Half(OLD, OLD, 4, 4, asked=4),
            "candidate": Half(OLD, OLD, 0, 0),
        }
        self.suspended: dict[str, set[str]] = {"stable": set(), "candidate": set()}
        # Set by a test: the load that the stable side has, in nodes, which its group follows while it may.
        self.nodes_wanted: int | None = None
        self.weights = {"arn:stable": 100, "arn:candidate": 0}
        self.weight_history: list[tuple[int, int]] = []
        self.items: dict[str, dict[str, Any]] = {}
        self.executions: dict[str, dict[str, Any]] = {}
        self.parameters = {PLACE.version_parameter: "neuron-fleet-prod-chat"}
        self.alarms: list[tuple[str, datetime]] = []
        self.calls: Counter[str] = Counter()
        self.disturb: Callable[[str], None] = lambda _call: None
        self.delay = timedelta(minutes=4)
        self.artifacts: set[str] = set()
        # The stable side's nodes never take another version: their disks are full.
        self.is_stable_stuck = False

    def dependencies(self) -> Dependencies:
        return Dependencies(
            store=Table(client(self, "dynamodb"), "rollouts"),
            balancer=Listener(client(self, "elbv2")),
            services=EcsServices(client(self, "ecs"), client(self, "ssm")),
            nodes=ScalingGroup(client(self, "autoscaling")),
            measured=_Figures(self),
            artifacts=cast(ArtifactStore, _Artifacts(self)),
            reports=ShadowReports(client(self, "s3")),
            executions=StateMachine(client(self, "stepfunctions"), "arn:aws:states:r:a:stateMachine:rollout"),
        )

    def advance(self, seconds: float) -> None:
        """Let time pass, and requests with it, by the weights as they are."""
        self.now += timedelta(seconds=seconds)
        stable = self.halves["stable"]
        if self.nodes_wanted is not None and not self.suspended["stable"] and stable.asked != self.nodes_wanted:
            stable.asked, stable.asked_at = self.nodes_wanted, self.now
        for name, half in self.halves.items():
            is_stuck = name == "stable" and self.is_stable_stuck
            if self.now - half.moved_at >= self.delay and not is_stuck:
                half.running = half.target
            if self.now - half.asked_at >= self.delay:
                half.nodes = half.asked
            sick = half.running == NEW and not self.candidate_does.is_healthy
            half.healthy = 0 if sick else half.nodes
            share = self.weights[f"arn:{name}"] / 100
            count = round(self.requests_per_minute * share * seconds / 60)
            if count:
                new = half.running == NEW
                errors = round(count * self.candidate_does.error_percent / 100) if new else 0
                p99 = self.candidate_does.p99 if new else 0.2
                at = self.now.replace(second=0)
                half.minutes.append(Minute(at, count, errors, p99))

    def somebody_shares(self, stable: int, candidate: int) -> None:
        """Somebody else changes the weights."""
        self.weights = {"arn:stable": stable, "arn:candidate": candidate}

    def minutes_of(self, of: SidePlace) -> list[Minute]:
        return self.halves[of.cluster].minutes

    @property
    def shares(self) -> tuple[int, int]:
        return self.weights["arn:stable"], self.weights["arn:candidate"]

    @property
    def serving(self) -> set[str]:
        """What really answers."""
        shares = {"stable": self.shares[0], "candidate": self.shares[1]}
        return {self.halves[name].running for name, share in shares.items() if share}

    # What follows are AWS's calls.

    def describe_rules(self, RuleArns: list[str]) -> dict[str, Any]:  # noqa: N803 - as AWS names it
        assert RuleArns == [PLACE.rule]
        groups = [{"TargetGroupArn": arn, "Weight": weight} for arn, weight in self.weights.items()]
        return {"Rules": [{"Actions": [{"Type": "forward", "ForwardConfig": {"TargetGroups": groups}}]}]}

    def modify_rule(self, RuleArn: str, Actions: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        assert RuleArn == PLACE.rule
        groups = Actions[0]["ForwardConfig"]["TargetGroups"]
        self.weights = {group["TargetGroupArn"]: group["Weight"] for group in groups}
        self.weight_history.append(self.shares)
        return {}

    def describe_target_health(self, TargetGroupArn: str) -> dict[str, Any]:  # noqa: N803
        half = self.halves[TargetGroupArn.removeprefix("arn:")]
        states = ["healthy"] * half.healthy + ["unhealthy"] * (half.nodes - half.healthy)
        return {"TargetHealthDescriptions": [{"TargetHealth": {"State": state}} for state in states]}

    def describe_services(self, cluster: str, services: list[str]) -> dict[str, Any]:
        assert services == [f"{cluster}-service"]
        half = self.halves[cluster]
        deployments = [{"taskDefinition": half.target, "runningCount": 0, "rolloutState": "IN_PROGRESS"}]
        if half.running == half.target:
            deployments = [{"taskDefinition": half.running, "runningCount": half.nodes, "rolloutState": "COMPLETED"}]
        else:
            deployments.append(
                {"taskDefinition": half.running, "runningCount": half.nodes, "rolloutState": "COMPLETED"}
            )
        return {"services": [{"taskDefinition": half.target, "deployments": deployments}]}

    def list_tasks(self, cluster: str, **_: object) -> dict[str, Any]:
        return {"taskArns": [f"arn:aws:ecs:r:a:task/{cluster}/{n}" for n in range(self.halves[cluster].nodes)]}

    def update_service(self, cluster: str, service: str, taskDefinition: str) -> dict[str, Any]:  # noqa: N803
        assert service == f"{cluster}-service"
        half = self.halves[cluster]
        half.target, half.moved_at = taskDefinition, self.now
        return {}

    def describe_task_definition(self, taskDefinition: str) -> dict[str, Any]:  # noqa: N803
        assert taskDefinition == PLACE.family
        containers = [{"name": "endpoint", "image": "chat@sha256:8"}, {"name": "sidecar", "image": "side:1"}]
        return {
            "taskDefinition": {
                "taskDefinitionArn": NEW, "family": PLACE.family, "revision": 8, "status": "ACTIVE",
                "containerDefinitions": containers, "memory": "1024",
            }
        }  # fmt: skip

    def register_task_definition(self, **definition: Any) -> dict[str, Any]:
        self.registered = definition
        return {"taskDefinition": {"taskDefinitionArn": NEW}}

    def put_parameter(self, Name: str, Value: str, Overwrite: bool) -> dict[str, Any]:  # noqa: N803
        assert Overwrite
        self.parameters[Name] = Value
        return {}

    def describe_auto_scaling_groups(self, AutoScalingGroupNames: list[str]) -> dict[str, Any]:  # noqa: N803
        name = AutoScalingGroupNames[0].removesuffix("-group")
        suspended = [{"ProcessName": each, "SuspensionReason": "user"} for each in sorted(self.suspended[name])]
        asked = self.halves[name].asked
        group = {
            "AutoScalingGroupName": AutoScalingGroupNames[0], "MinSize": 0, "MaxSize": 8, "DesiredCapacity": asked,
            "SuspendedProcesses": suspended, "DefaultCooldown": 300, "AvailabilityZones": ["us-east-2a"],
            "HealthCheckType": "EC2", "CreatedTime": START,
        }  # fmt: skip
        return {"AutoScalingGroups": [group]}

    def suspend_processes(self, AutoScalingGroupName: str, ScalingProcesses: list[str]) -> dict[str, Any]:  # noqa: N803
        self.suspended[AutoScalingGroupName.removesuffix("-group")] |= set(ScalingProcesses)
        return {}

    def resume_processes(self, AutoScalingGroupName: str, ScalingProcesses: list[str]) -> dict[str, Any]:  # noqa: N803
        self.suspended[AutoScalingGroupName.removesuffix("-group")] -= set(ScalingProcesses)
        return {}

    def set_desired_capacity(self, AutoScalingGroupName: str, DesiredCapacity: int, **_: object) -> dict[str, Any]:  # noqa: N803
        half = self.halves[AutoScalingGroupName.removesuffix("-group")]
        half.asked, half.asked_at = DesiredCapacity, self.now
        return {}

    def describe_scaling_activities(self, **_: object) -> dict[str, Any]:
        return {"Activities": []}

    def get_item(self, Key: dict[str, Any], **_: object) -> dict[str, Any]:  # noqa: N803
        item = self.items.get(Key["id"]["S"])
        return {"Item": json.loads(json.dumps(item))} if item else {}

    def put_item(self, Item: dict[str, Any], **request: Any) -> dict[str, Any]:  # noqa: N803
        there = self.items.get(Item["id"]["S"])
        if request.get("ConditionExpression") == "attribute_not_exists(id) OR version = :read":
            read = request["ExpressionAttributeValues"][":read"]
            if there is not None and there["version"] != read:
                raise refused("ConditionalCheckFailedException", "PutItem")
        self.items[Item["id"]["S"]] = Item
        return {}

    def list_objects_v2(self, Bucket: str, Prefix: str) -> dict[str, Any]:  # noqa: N803
        assert (Bucket, Prefix) == (PLACE.shadow_bucket, "reports/chat/chat:8/")
        tasks = range(self.halves["candidate"].healthy if self.candidate_does.reports is not None else 0)
        return {"Contents": [{"Key": f"{Prefix}{task}.json"} for task in tasks]}

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        assert (Bucket, Key.rpartition("/")[0]) == (PLACE.shadow_bucket, "reports/chat/chat:8")
        return {"Body": BytesIO(self.candidate_does.reports or b"")}

    def start_execution(self, name: str, input: str, **_: object) -> dict[str, Any]:
        if name in self.executions:
            raise refused("ExecutionAlreadyExists", "StartExecution")
        self.executions[name] = json.loads(input)
        return {"executionArn": f"{_EXECUTIONS}{name}", "startDate": self.now}

    def describe_execution(self, executionArn: str) -> dict[str, Any]:  # noqa: N803
        name = executionArn.removeprefix(_EXECUTIONS)
        if name not in self.executions:
            raise refused("ExecutionDoesNotExist", "DescribeExecution")
        status = "FAILED" if self.executions[name].get("stopped") else "RUNNING"
        return {"executionArn": executionArn, "stateMachineArn": "arn", "status": status, "startDate": self.now}


def refused(code: str, call: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, call)


def client(endpoint: Endpoint, service: str) -> Any:
    """A client of boto3, as the adapters hold it."""
    return shaped(service, _Client(endpoint))


class _Client:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def __getattr__(self, call: str) -> Any:
        def answer(**request: Any) -> Any:
            self._endpoint.calls[call] += 1
            self._endpoint.disturb(call)
            found = getattr(self._endpoint, call)(**request)
            # A time-out or a lost answer may come after it was done.
            self._endpoint.disturb(call)
            return found

        return answer


@dataclass
class _Figures:
    endpoint: Endpoint

    def add_to(self, side: Side, place: RolloutPlace, of: SidePlace, tasks: tuple[str, ...], during: Window) -> Side:
        self.endpoint.disturb("get_metric_data")
        since = during[0].replace(second=0)
        minutes = tuple(m for m in self.endpoint.minutes_of(of) if m.at >= since)
        return replace(side, minutes=minutes)

    def alarms(self, place: RolloutPlace, since: datetime) -> tuple[str, ...]:
        self.endpoint.disturb("describe_alarms")
        return tuple(key for key, at in self.endpoint.alarms if at > since)


@dataclass
class _Artifacts:
    endpoint: Endpoint

    def has(self, artifact: str) -> bool | None:
        return artifact in self.endpoint.artifacts


class Disturbances:
    """Throttles and time-outs, by chance; each look has its own patience before the function's time is over."""

    def __init__(self, chance: random.Random, throttles: float, timeouts: float) -> None:
        self._chance, self._throttles, self._timeouts = chance, throttles, timeouts
        self.count = 0

    def __call__(self, call: str) -> None:
        if self._chance.random() < self._throttles:
            self.count += 1
            raise refused("ThrottlingException", call)
        if self._chance.random() < self._timeouts:
            self.count += 1
            raise LambdaTimeoutError(call)
