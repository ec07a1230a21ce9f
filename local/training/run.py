"""The run itself: virtual minutes in which nodes boot, train, are taken away, and training goes on elsewhere."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import boto3

from local.control import EmulatorControl
from local.simulation.lockstep import SETTLE_SECONDS
from local.training.fabric import Fabric, Step
from local.training.node import Node
from local.training.nodes import Nodes

if TYPE_CHECKING:
    from mypy_boto3_batch.type_defs import JobDetailTypeDef

STEPS_A_MINUTE: Final = 100
# Real seconds that one virtual minute of training may take.
_MINUTE_SECONDS: Final = 120.0
_POLL_SECONDS: Final = 0.02
_MOST_MINUTES: Final = 60
Tell = Callable[[int, str], None]
ENDED: Final = ("SUCCEEDED", "FAILED")


class RunError(RuntimeError):
    """The run did not get where it was meant to; the message says how far it was."""


@dataclass(slots=True)
class Run:
    """``now`` is the virtual second that has come; ``tell`` is told of every change, with the minute."""

    nodes: Nodes
    fabric: Fabric
    control: EmulatorControl
    start: float
    job_id: str
    tell: Tell
    now: float = field(init=False)
    _status: str = "RUNNABLE"
    _resumed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin at the start."""
        self.now = self.start

    @property
    def minute_number(self) -> int:
        """Minutes since the start."""
        return round((self.now - self.start) / 60)

    def job(self) -> "JobDetailTypeDef":
        """As DescribeJobs tells it."""
        return boto3.client("batch").describe_jobs(jobs=[self.job_id])["jobs"][0]

    def minute(self, during: Callable[[], None] | None = None) -> str:
        """One virtual minute of everything; ``during`` is called while training is at work. The job's status.

        Raises:
            RunError: the job has failed, or its training stands still.
        """
        self.settle()
        self._train(during)
        self.nodes.advance(self.now + 60)
        for node in self.nodes.living():
            node.job_minutes += node.container is not None
        self.now += 60
        self.control.set_clock(self.now + SETTLE_SECONDS)
        self.settle()
        if self._status == "FAILED":
            said = max((node.said for node in self.nodes.all), key=len)
            raise RunError(f"the job has failed; a container's last words:\n{said[-2000:]}")
        return self._status

    def settle(self) -> None:
        """What happens between two minutes: instances come and go, agents join and report, jobs start and end."""
        while True:
            new, gone = self.nodes.look(self.now)
            for node in new:
                word = {"passed": "passed the gate", "failed": "is held back by the gate"}
                self._say(f"{node.instance} boots: {word.get(node.booted.gate, 'no verdict of the gate')}")
            for node in gone:
                self._say(f"{node.instance} is gone: {node.end}")
            for node in self.nodes.join(self.now):
                self._say(f"{node.instance} joins the cluster")
            self.nodes.report(self.fabric.address, self.now)
            self._end_shut_down()
            if not new and not gone and not self._has_changed():
                return

    def _has_changed(self) -> bool:
        job = self.job()
        status, attempt = job["status"], len(job.get("attempts", [])) + 1
        if status == self._status:
            return False
        self._status = status
        why = f": {job['statusReason']}" if job.get("statusReason") else ""
        self._say(f"job {status}{why}" + (f", attempt {attempt}" if status in {"STARTING", "RUNNING"} else ""))
        return True

    def _train(self, during: Callable[[], None] | None) -> None:
        """Let the job's ranks do a minute's steps, or come to their end."""
        running = [node for node in self.nodes.living() if node.runs_container]
        if not running:
            return
        self.fabric.allow(STEPS_A_MINUTE)
        deadline = time.monotonic() + _MINUTE_SECONDS
        before = self.fabric.done
        while any(node.runs_container for node in running) and not self.fabric.is_idle:
            if time.monotonic() > deadline:
                raise RunError(f"training stands still in minute {self.minute_number}, at step {self.fabric.done}")
            if during is not None and self.fabric.done > before:
                during()
                during = None
            time.sleep(_POLL_SECONDS)
        self.fabric.forbid()
        self._tell_steps(self.fabric.steps[before:])

    def _tell_steps(self, done: list[Step]) -> None:
        for run in dict.fromkeys(step.run for step in done):
            numbers = [step.number for step in done if step.run == run]
            attempt = run.rpartition(".")[2]
            resumed = ""
            if run not in self._resumed:
                self._resumed.add(run)
                resumed = f", resumed after step {numbers[0] - 1}" if numbers[0] > 1 else ", from the beginning"
            self._say(f"attempt {attempt}: steps {numbers[0]} to {numbers[-1]}{resumed}")

    def lose(self, node: Node) -> None:
        """The host fails: everything on it ends at once, and EC2 terminates the instance."""
        self._say(f"{node.instance} is lost, without a warning")
        self.nodes.terminate(node, self.now, "its host failed")
        self._wait_for_the_others()
        self.settle()

    def _wait_for_the_others(self) -> None:
        """Their collective fails, and their containers end."""
        deadline = time.monotonic() + _MINUTE_SECONDS
        while any(node.runs_container for node in self.nodes.living()):
            if time.monotonic() > deadline:
                raise RunError("the ranks of a job that has lost one of its nodes do not end")
            time.sleep(_POLL_SECONDS)

    def shut_down(self, node: Node) -> None:
        """EC2 shuts the instance down: its container gets SIGTERM, and the instance is gone when that has ended."""
        self._say(f"{node.instance} is shut down: its container is told")
        node.shuts_down = True
        self.control.join_cluster(self.nodes.environment.region, node.instance, drains=True)
        if node.container is not None:
            node.container.stop()

    def _end_shut_down(self) -> None:
        for node in self.nodes.living():
            if node.shuts_down and node.container is None:
                self.nodes.terminate(node, self.now, "it was shut down")
                self._say(f"{node.instance} is gone: {node.end}")

    def until(self, status: str) -> None:
        """Minutes until the job has this status.

        Raises:
            RunError: it fails, or does not get there.
        """
        for _ in range(_MOST_MINUTES):
            if self._status == status:
                return
            self.minute()
        raise RunError(f"the job is {self._status} after {_MOST_MINUTES} minutes, and not {status}")

    def working(self) -> list[Node]:
        """The nodes of the job, in the order of their index in it."""
        by_index = {node.container.index: node for node in self.nodes.living() if node.container is not None}
        return [by_index[index] for index in sorted(by_index)]

    def _say(self, text: str) -> None:
        self.tell(self.minute_number, text)
