"""One job as Batch keeps it, with the tasks of the attempt that runs and the record of those before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local.emulator.batch.retries import Ended, RetryStrategy

Entry = dict[str, Any]
ENDED = ("SUCCEEDED", "FAILED")
ACTIVE = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING")
STATUSES = (*ACTIVE, *ENDED)


@dataclass(slots=True)
class Task:
    """One node's container in one attempt. Times are milliseconds; ``wanted`` False: it is to be stopped."""

    arn: str
    index: int
    instance: str
    container: Mapping[str, Any]
    status: str = "STARTING"
    wanted: bool = True
    started: int | None = None
    stopped: int | None = None
    exit_code: int | None = None
    reason: str = ""
    is_lost: bool = False
    log_stream: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs any more."""
        return self.status == "STOPPED"

    @property
    def status_reason(self) -> str:
        """In the words by which Batch's own rules of retry are written."""
        if self.is_lost:
            return f"Host EC2 (instance {self.instance}) terminated."
        return "Task failed to start" if self.exit_code is None else "Essential container in task exited"

    def ended(self) -> Ended:
        """What the retry strategy looks at."""
        return Ended(self.exit_code, self.reason, self.status_reason)

    def as_container(self) -> Entry:
        """The member ``container`` of an attempt and of a node's detail."""
        said = {"exitCode": self.exit_code, "reason": self.reason or None, "logStreamName": self.log_stream or None}
        arns = {"containerInstanceArn": container_instance(self.arn, self.instance), "taskArn": self.arn}
        return {name: value for name, value in (arns | said).items() if value is not None}

    def as_attempt(self) -> Entry:
        """A finished attempt of this node."""
        times = {"startedAt": self.started, "stoppedAt": self.stopped}
        told = {name: value for name, value in times.items() if value is not None}
        return {"container": self.as_container(), "statusReason": self.status_reason, **told}


@dataclass(slots=True)
class Job:
    """``entry`` is what DescribeJobs answers; a seeded job has no ``definition`` and is never run."""

    entry: Entry
    queue: str
    definition: Mapping[str, Any] | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    strategy: RetryStrategy = field(default_factory=RetryStrategy)
    timeout_seconds: float | None = None
    attempt: int = 0
    tasks: list[Task] = field(default_factory=list)
    past: dict[int, list[Entry]] = field(default_factory=dict)
    end_reason: str = ""
    """Why it is ended from outside: then it is not tried again."""

    @property
    def status(self) -> str:
        """One of ``STATUSES``."""
        return str(self.entry["status"])

    @property
    def nodes(self) -> int:
        """How many it runs on; 0 for one that nothing runs."""
        return int(self.entry["nodeProperties"]["numNodes"]) if self.definition is not None else 0

    @property
    def main(self) -> int:
        """The index of the node whose end is the attempt's."""
        return int((self.definition or {}).get("mainNode", 0))

    def begin(self, tasks: list[Task]) -> None:
        """Start the next attempt."""
        self.attempt += 1
        self.tasks = tasks
        self.entry.update(status="STARTING", statusReason="")

    def has_started(self, now: int) -> None:
        """All containers run."""
        self.entry.update(status="RUNNING", startedAt=now)

    def close(self, now: int) -> None:
        """Every container of the attempt is over: tell its record, and decide what becomes of the job."""
        main = next(task for task in self.tasks if task.index == self.main)
        for task in self.tasks:
            self.past.setdefault(task.index, []).append(task.as_attempt())
        self.entry["attempts"] = self.past[self.main]
        self.tasks = []
        if self.end_reason:
            self.end("FAILED", self.end_reason, now)
        elif main.exit_code == 0 and not main.is_lost:
            self.end("SUCCEEDED", main.status_reason, now)
        elif self.strategy.retries(self.attempt, main.ended()):
            self.entry.update(status="RUNNABLE", statusReason=main.status_reason)
        else:
            self.end("FAILED", main.status_reason, now)

    def end(self, status: str, reason: str, now: int) -> None:
        """Nothing becomes of it any more."""
        self.entry.update(status=status, statusReason=reason, stoppedAt=now)

    def stop(self, reason: str, now: int) -> None:
        """End it from outside: its containers first, where it has any."""
        if self.status in ENDED:
            return
        self.end_reason = reason
        for task in self.tasks:
            task.wanted = False
        if not self.tasks:
            self.end("FAILED", reason, now)


def node_detail(job: Job, index: int) -> Entry | None:
    """DescribeJobs of ``<job>#<index>``; None before the node was ever started."""
    past = job.past.get(index, [])
    task = next((each for each in job.tasks if each.index == index), None)
    if task is None and not past:
        return None
    shared: Entry = {name: job.entry[name] for name in ("jobName", "jobDefinition", "createdAt") if name in job.entry}
    if task is not None:
        status = {"STARTING": "STARTING", "RUNNING": "RUNNING"}.get(task.status) or _end_of(task.exit_code)
        now = {"status": status, "container": task.as_container(), "statusReason": task.reason}
        times = {"startedAt": task.started, "stoppedAt": task.stopped}
    else:
        last = past[-1]
        waits = job.status not in ENDED
        now = {
            "status": "RUNNABLE" if waits else _end_of(last["container"].get("exitCode")),
            "container": last["container"],
            "statusReason": last["statusReason"],
        }
        times = {name: last.get(name) for name in ("startedAt", "stoppedAt")}
    return {
        **shared,
        **now,
        **{name: value for name, value in times.items() if value is not None},
        "jobId": f"{job.entry['jobId']}#{index}",
        "jobArn": f"{job.entry['jobArn']}#{index}",
        "jobQueue": job.queue,
        "attempts": past,
        "nodeDetails": {"nodeIndex": index, "isMainNode": index == job.main},
    }


def container_instance(task_arn: str, instance: str) -> str:
    """The ARN of an instance in the cluster of the environment that the task is of."""
    return f"{task_arn.rpartition('/')[0].replace(':task/', ':container-instance/')}/{instance}"


def _end_of(exit_code: int | None) -> str:
    return "SUCCEEDED" if exit_code == 0 else "FAILED"
