"""Which nodes run which jobs: nodes are asked for while jobs wait, join when their ECS agent starts, and may be lost.

The nodes' own part, their ECS agents, runs outside of the embedded AWS: it says what became of containers, and is told
which to run and which to stop. What becomes of the job is decided here.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from local.emulator.batch.containers import Seat, container
from local.emulator.batch.job import Job, Task
from local.emulator.batch.jobs import Jobs
from local.emulator.capacity.batch import QUEUE

TIMED_OUT: Final = "Job attempt duration exceeded timeout"


@dataclass(frozen=True, slots=True)
class Host:
    """An instance of a compute environment, by the environment's ARN."""

    instance: str
    environment: str
    address: str


@dataclass(slots=True)
class Scheduler:
    """``hosts`` are the running instances, ``members`` those whose ECS agent has joined."""

    jobs: Jobs
    hosts: dict[str, Host] = field(default_factory=dict)
    members: dict[str, Host] = field(default_factory=dict)
    draining: set[str] = field(default_factory=set)
    """Members that are given nothing more."""

    def nodes_wanted(self, region: str, environment: str) -> int:
        """How many nodes the environment's jobs need, those that wait and those that run."""
        return sum(job.nodes for job in self.jobs.living() if self._environment(region, job) == environment)

    def busy(self) -> frozenset[str]:
        """The instances that run a container."""
        return frozenset(task.instance for job in self.jobs.living() for task in job.tasks if not task.is_over)

    def see(self, region: str, hosts: Sequence[Host]) -> None:
        """The instances of the region's environments that run now: what ran on others of the region is lost."""
        elsewhere = {name: host for name, host in self.hosts.items() if _region(host.environment) != region}
        self.hosts = elsewhere | {host.instance: host for host in hosts}
        self.members = {name: host for name, host in self.members.items() if name in self.hosts}
        for job in self.jobs.living():
            for task in job.tasks:
                if task.instance not in self.hosts and not task.is_over:
                    task.is_lost, task.status, task.stopped = True, "STOPPED", self.jobs.milliseconds()
        self.settle(region)

    def join(self, region: str, instance: str, *, drains: bool = False) -> str:
        """The ECS agent of an instance has started, or it drains; the cluster that it is in.

        Raises:
            ValueError: no compute environment has launched the instance, or it has ended.
        """
        host = self.hosts.get(instance)
        if host is None:
            raise ValueError(f"container-instances: {instance}: no running instance of a compute environment")
        self.members[instance] = host
        if drains:
            self.draining.add(instance)
        self.settle(region)
        return host.environment

    def report(self, region: str, instance: str, states: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What became of an instance's tasks; all tasks of the instance that are not over.

        Raises:
            ValueError: the instance has not joined, or has no such task.
        """
        if instance not in self.members:
            raise ValueError(f"tasks: {instance} has not joined a cluster")
        own = {task.arn: task for job in self.jobs.living() for task in job.tasks if task.instance == instance}
        for state in states:
            if state.get("task") not in own:
                raise ValueError(f"tasks: {instance} has no task {state.get('task')}")
            self._take(own[str(state["task"])], state)
        self.settle(region)
        living = [task for job in self.jobs.living() for task in job.tasks if task.instance == instance]
        return [
            {"task": task.arn, "run": task.wanted, "container": task.container} for task in living if not task.is_over
        ]

    def _take(self, task: Task, state: Mapping[str, Any]) -> None:
        now = self.jobs.milliseconds()
        task.log_stream = str(state.get("log_stream", task.log_stream))
        if state.get("status") == "RUNNING" and task.started is None:
            task.status, task.started = "RUNNING", now
        elif state.get("status") == "STOPPED" and not task.is_over:
            task.status, task.stopped = "STOPPED", now
            task.exit_code, task.reason = state.get("exit_code"), str(state.get("reason", ""))

    def settle(self, region: str) -> None:
        """Bring every job to where its tasks, the time and the nodes that are free let it be."""
        now = self.jobs.milliseconds()
        waiting: set[str] = set()
        for job in self.jobs.living():
            self._advance(job, now)
            environment = self._environment(region, job)
            if job.status == "RUNNABLE" and job.nodes and environment not in waiting and not self._start(region, job):
                # Nobody overtakes in a queue.
                waiting.add(environment)

    def _advance(self, job: Job, now: int) -> None:
        if not job.tasks:
            return
        main = next(task for task in job.tasks if task.index == job.main)
        if main.is_over:
            # Batch ends a multi-node job with its main node.
            for task in job.tasks:
                task.wanted = False
        elif job.status == "STARTING" and all(task.started is not None for task in job.tasks):
            job.has_started(now)
        begun = min((task.started for task in job.tasks if task.started is not None), default=now)
        if job.timeout_seconds and now - begun >= job.timeout_seconds * 1000 and not main.is_over:
            job.stop(TIMED_OUT, now)
        if all(task.is_over for task in job.tasks):
            job.close(now)

    def _start(self, region: str, job: Job) -> bool:
        environment = self._environment(region, job)
        taken = self.busy() | self.draining
        free = [
            host for host in self.members.values() if host.environment == environment and host.instance not in taken
        ]
        if len(free) < job.nodes or job.definition is None:
            return False
        chosen = free[: job.nodes]
        seats = [self._seat(job, index, chosen, environment) for index in range(job.nodes)]
        tasks = [container(job.definition, job.overrides, seat) for seat in seats]
        arns = [_task_arn(environment) for _ in chosen]
        job.begin(
            [
                Task(arn, seat.index, host.instance, told)
                for arn, seat, host, told in zip(arns, seats, chosen, tasks, strict=True)
            ]
        )
        return True

    def _seat(self, job: Job, index: int, chosen: Sequence[Host], environment: str) -> Seat:
        return Seat(
            job_id=job.entry["jobId"],
            attempt=job.attempt + 1,
            index=index,
            nodes=job.nodes,
            main=job.main,
            main_address=chosen[job.main].address,
            queue=job.queue.rpartition("/")[2],
            environment=environment.rpartition("/")[2],
        )

    def _environment(self, region: str, job: Job) -> str:
        queue = self.jobs.batch.resources.get(region, QUEUE, job.queue)
        order = queue.properties.get("ComputeEnvironmentOrder", []) if queue else []
        return str(order[0]["ComputeEnvironment"]) if order else ""


def _region(arn: str) -> str:
    return arn.split(":")[3]


def _task_arn(environment: str) -> str:
    place, _, name = environment.partition(":compute-environment/")
    return f"{place.replace(':batch:', ':ecs:')}:task/{name}/{uuid.uuid4().hex}"
