"""A pool's ECS cluster: which nodes have joined, what runs on them, and starting a job on all of its nodes."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from botocore.exceptions import BotoCoreError, ClientError

from fleet.pool.actions import CONTAINER, RANK, Start, StopTask, overrides, started_by, told_by
from fleet.pool.job import Rank
from fleet.pool.observed import Node, PoolDeployment, Task

if TYPE_CHECKING:
    from mypy_boto3_ecs import ECSClient
    from mypy_boto3_ecs.literals import DesiredStatusType
    from mypy_boto3_ecs.type_defs import ContainerInstanceTypeDef, TaskOverrideTypeDef, TaskTypeDef

# DescribeTasks and DescribeContainerInstances take a hundred.
_AT_ONCE: Final = 100
_THREADS: Final = 8


class EcsCluster:
    """ECS."""

    def __init__(self, ecs: "ECSClient") -> None:
        self._ecs = ecs

    def joined(self, place: PoolDeployment, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """``nodes`` with their container instances, where they have joined."""
        pages = self._ecs.get_paginator("list_container_instances").paginate(cluster=place.cluster)
        arns = [arn for page in pages for arn in page["containerInstanceArns"]]
        found: dict[str, ContainerInstanceTypeDef] = {}
        for some in _chunks(arns):
            answer = self._ecs.describe_container_instances(cluster=place.cluster, containerInstances=some)
            found |= {each["ec2InstanceId"]: each for each in answer["containerInstances"]}
        return tuple(_with_instance(node, found.get(node.instance_id)) for node in nodes)

    def tasks(self, place: PoolDeployment) -> tuple[Task, ...]:
        """The tasks that run, and those that ended within the hour."""
        running, stopped = self._listed(place, "RUNNING"), self._listed(place, "STOPPED")
        tasks: list[Task] = []
        # One that stops in between is in both.
        for some in _chunks(list(dict.fromkeys((*running, *stopped)))):
            answer = self._ecs.describe_tasks(cluster=place.cluster, tasks=some)
            tasks += map(_task, answer["tasks"])
        return tuple(tasks)

    def start(self, place: PoolDeployment, action: Start) -> tuple[str, ...]:
        """Start one container on every node of the attempt; why not, one line for each that did not start.

        What did not start shows as a task that is missing, and the attempt is undone at a later look.
        """
        attempt = action.job.last
        if attempt is None:
            return ()
        with ThreadPoolExecutor(max_workers=_THREADS) as workers:
            return tuple(filter(None, workers.map(lambda rank: self._start_one(place, action, rank), attempt.ranks)))

    def stop(self, place: PoolDeployment, action: StopTask) -> None:
        """SIGTERM to a container, and SIGKILL after the ECS_CONTAINER_STOP_TIMEOUT of its node."""
        self._ecs.stop_task(cluster=place.cluster, task=action.task, reason=action.reason)

    def _start_one(self, place: PoolDeployment, action: Start, rank: Rank) -> str | None:
        try:
            answer = self._ecs.start_task(
                cluster=place.cluster,
                taskDefinition=place.definitions[rank.instance_type],
                containerInstances=[rank.container_instance],
                startedBy=started_by(action.job),
                overrides=cast("TaskOverrideTypeDef", overrides(action.job, rank)),
            )
        except (BotoCoreError, ClientError) as error:
            return f"fleet {place.fleet}: {action.job.order.name} on {rank.instance_id}: {error}"
        failures = [str(each.get("reason", "")) for each in answer.get("failures", [])]
        if not failures:
            return None
        return f"fleet {place.fleet}: {action.job.order.name} on {rank.instance_id}: {', '.join(failures)}"

    def _listed(self, place: PoolDeployment, status: "DesiredStatusType") -> list[str]:
        pages = self._ecs.get_paginator("list_tasks").paginate(cluster=place.cluster, desiredStatus=status)
        return [arn for page in pages for arn in page["taskArns"]]


def _chunks(arns: list[str]) -> Iterator[list[str]]:
    return (arns[first : first + _AT_ONCE] for first in range(0, len(arns), _AT_ONCE))


def _with_instance(node: Node, seen: "ContainerInstanceTypeDef | None") -> Node:
    if seen is None:
        return node
    takes_tasks = seen["status"] == "ACTIVE" and seen["agentConnected"]
    return replace(node, container_instance=seen["containerInstanceArn"], takes_tasks=takes_tasks)


def _task(entry: "TaskTypeDef") -> Task:
    job_id, attempt = told_by(entry.get("startedBy", ""))
    containers = (each for each in entry.get("containers", []) if each.get("name") == CONTAINER)
    container = next(containers, None) or {}
    return Task(
        arn=entry["taskArn"],
        container_instance=entry.get("containerInstanceArn", ""),
        job_id=job_id,
        attempt=attempt,
        index=_index(entry),
        is_running=entry.get("lastStatus") == "RUNNING",
        started_at=entry.get("startedAt"),
        stopped_at=entry.get("stoppedAt"),
        exit_code=container.get("exitCode"),
        stop_code=entry.get("stopCode", ""),
        # The container's own words are nearer to the cause, as in CannotPullContainerError.
        reason=container.get("reason") or entry.get("stoppedReason", ""),
    )


def _index(entry: "TaskTypeDef") -> int:
    for container in entry.get("overrides", {}).get("containerOverrides", []):
        for variable in container.get("environment", []):
            if variable["name"] == RANK:
                return int(variable["value"])
    return -1
