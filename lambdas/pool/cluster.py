"""A pool's ECS cluster: which nodes have joined, what runs on them, and starting a job on all of its nodes."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from fleet.pool.actions import CONTAINER, RANK, Start, StopTask, overrides, started_by, told_by
from fleet.pool.job import Rank
from fleet.pool.observed import Node, Place, Task
from lambdas.pool.clients import EcsClient

# DescribeTasks and DescribeContainerInstances take a hundred.
_AT_ONCE: Final = 100
_PAGES: Final = 50
_THREADS: Final = 8


class EcsCluster:
    """ECS."""

    def __init__(self, ecs: EcsClient) -> None:
        self._ecs = ecs

    def joined(self, place: Place, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """``nodes`` with their container instances, where they have joined."""
        arns = self._pages(self._ecs.list_container_instances, "containerInstanceArns", cluster=place.cluster)
        found: dict[str, dict[str, Any]] = {}
        for some in _chunks(list(arns)):
            answer = self._ecs.describe_container_instances(cluster=place.cluster, containerInstances=some)
            found |= {each["ec2InstanceId"]: each for each in answer["containerInstances"]}
        return tuple(_with_instance(node, found.get(node.instance_id)) for node in nodes)

    def tasks(self, place: Place) -> tuple[Task, ...]:
        """The tasks that run, and those that ended within the hour."""
        arns: dict[str, None] = {}
        for status in ("RUNNING", "STOPPED"):
            arns |= dict.fromkeys(
                self._pages(self._ecs.list_tasks, "taskArns", cluster=place.cluster, desiredStatus=status)
            )
        tasks: list[Task] = []
        for some in _chunks(list(arns)):
            answer = self._ecs.describe_tasks(cluster=place.cluster, tasks=some)
            tasks += map(_task, answer["tasks"])
        return tuple(tasks)

    def start(self, place: Place, action: Start) -> tuple[str, ...]:
        """Start one container on every node of the attempt; why not, one line for each that did not start.

        What did not start shows as a task that is missing, and the attempt is undone at a later look.
        """
        attempt = action.job.last
        if attempt is None:
            return ()
        with ThreadPoolExecutor(max_workers=_THREADS) as workers:
            return tuple(filter(None, workers.map(lambda rank: self._start_one(place, action, rank), attempt.ranks)))

    def stop(self, place: Place, action: StopTask) -> None:
        """SIGTERM to a container, and SIGKILL after the ECS_CONTAINER_STOP_TIMEOUT of its node."""
        self._ecs.stop_task(cluster=place.cluster, task=action.task, reason=action.reason)

    def _start_one(self, place: Place, action: Start, rank: Rank) -> str | None:
        try:
            answer = self._ecs.start_task(
                cluster=place.cluster,
                taskDefinition=place.definitions[rank.instance_type],
                containerInstances=[rank.container_instance],
                startedBy=started_by(action.job),
                overrides=overrides(action.job, rank),
            )
        except (BotoCoreError, ClientError) as error:
            return f"fleet {place.fleet}: {action.job.order.name} on {rank.instance_id}: {error}"
        failures = [str(each.get("reason", "")) for each in answer.get("failures", [])]
        if not failures:
            return None
        return f"fleet {place.fleet}: {action.job.order.name} on {rank.instance_id}: {', '.join(failures)}"

    def _pages(self, ask: Callable[..., dict[str, Any]], key: str, **request: object) -> Iterator[str]:
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = ask(**request, **more)
            yield from page[key]
            if not page.get("nextToken"):
                return
            more = {"nextToken": page["nextToken"]}


def _chunks(arns: list[str]) -> Iterator[list[str]]:
    return (arns[first : first + _AT_ONCE] for first in range(0, len(arns), _AT_ONCE))


def _with_instance(node: Node, seen: dict[str, Any] | None) -> Node:
    if seen is None:
        return node
    takes_tasks = seen["status"] == "ACTIVE" and bool(seen["agentConnected"])
    return replace(node, container_instance=seen["containerInstanceArn"], takes_tasks=takes_tasks)


def _task(entry: dict[str, Any]) -> Task:
    job_id, attempt = told_by(entry.get("startedBy", ""))
    container: dict[str, Any] = next(
        (each for each in entry.get("containers", []) if each.get("name") == CONTAINER), {}
    )
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


def _index(entry: dict[str, Any]) -> int:
    for container in entry.get("overrides", {}).get("containerOverrides", []):
        for variable in container.get("environment", []):
            if variable["name"] == RANK:
                return int(variable["value"])
    return -1
