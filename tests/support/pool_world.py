"""A pool that answers what it is told, minute by minute: an Auto Scaling group, a cluster, and jobs. No AWS."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from fleet.pool.actions import Decision, LetGo, Release, Replace, SetDesired, Start, StopTask
from fleet.pool.decide import decide
from fleet.pool.job import Order, Phase, PoolJob, submitted
from fleet.pool.observed import DRAINING, IN_SERVICE, Fault, Memory, Node, PoolDeployment, Seen, Task

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PLACE = PoolDeployment(
    environment="staging",
    fleet="trn1-spot",
    group="group",
    cluster="cluster",
    definitions={"trn1.32xlarge": "arn:aws:ecs:us-east-2:111122224444:task-definition/trn1-spot:3"},
    image="training:staging",
    nodes=4,
    keeps_nodes=False,
    drain_seconds=600,
    idle_seconds=600,
    start_seconds=1800,
    replace_at_once=1,
    attempts=3,
    longest_job_seconds=86_400,
)


def order(name: str = "one", **changes: object) -> Order:
    """Two nodes for a day, three attempts."""
    made = Order(
        job_id=name, name=name, job=name, fleet="trn1-spot", owner="team", nodes=2, command=("train",), variables=(),
        created_at=NOW, timeout_seconds=86_400, attempts=3,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


def node(index: int, **changes: object) -> Node:
    """A node that takes tasks."""
    made = Node(
        f"i-{index}", "trn1.32xlarge", IN_SERVICE, True, NOW, f"10.0.0.{index}", f"container-instance/{index}", True
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


@dataclass
class PoolWorld:
    """``turn`` is one look: what was decided is done, and nodes and tasks come as AWS would let them come."""

    place: PoolDeployment = PLACE
    jobs: dict[str, PoolJob] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    stops: dict[str, str] = field(default_factory=dict)
    desired: int = 0
    now: datetime = NOW
    memory: Memory = field(default_factory=Memory)
    has_capacity: bool = True
    is_closed: bool = False
    saves: bool = True
    """Whether containers end at SIGTERM; others run on until their time is over."""
    instance_type: str = "trn1.32xlarge"
    decisions: list[Decision] = field(default_factory=list)
    _launched: int = 0
    _dying: dict[str, datetime] = field(default_factory=dict)

    def submit(self, **changes: object) -> str:
        made = order(**{"name": f"job-{len(self.jobs)}", "created_at": self.now, **changes})  # type: ignore[arg-type]
        made = replace(made, job_id=made.name)
        self.jobs[made.job_id] = submitted(made)
        return made.job_id

    def look(self) -> Decision:
        seen = Seen(
            self.desired, tuple(self.nodes.values()), tuple(self.tasks.values()), tuple(self.faults), self.memory,
            self.stops, self.is_closed,
        )  # fmt: skip
        return decide(self.place, tuple(self.jobs.values()), seen, self.now)

    def turn(self, minutes: int = 1) -> None:
        for _ in range(minutes):
            self.now += MINUTE
            self._pass()
            made = self.look()
            self.decisions.append(made)
            self.memory = made.memory
            self.jobs |= {job.order.job_id: job for job in made.jobs}
            for action in made.actions:
                self._do(action)
            self._launch()

    def run_until(self, job: str, phase: Phase, within: int = 30) -> PoolJob:
        for _ in range(within):
            if self.jobs[job].phase is phase:
                return self.jobs[job]
            self.turn()
        if self.jobs[job].phase is phase:
            return self.jobs[job]
        raise AssertionError(f"{job} is {self.jobs[job].phase} and not {phase}: {self.jobs[job].reason}")

    def run_until_attempt(self, job: str, number: int, within: int = 30) -> PoolJob:
        for _ in range(within):
            if len(self.jobs[job].attempts) >= number:
                break
            self.turn()
        return self.run_until(job, Phase.RUNNING, within)

    def of(self, job: str) -> list[Task]:
        """The tasks of its attempt that runs."""
        attempt = self.jobs[job].last
        assert attempt is not None
        own = [t for t in self.tasks.values() if (t.job_id, t.attempt) == (job, attempt.number)]
        return sorted(own, key=lambda task: task.index)

    def end(self, task: Task, code: int | None, stop_code: str = "EssentialContainerExited", reason: str = "") -> None:
        if not self.tasks[task.arn].is_over:
            over = {"stopped_at": self.now, "is_running": False, "exit_code": code, "stop_code": stop_code}
            self.tasks[task.arn] = replace(self.tasks[task.arn], **over, reason=reason)  # type: ignore[arg-type]

    def exit(self, job: str, *codes: int) -> None:
        for task, code in zip(self.of(job), codes, strict=False):
            self.end(task, code)

    def interrupt(self, instance_id: str) -> None:
        """EC2 takes a Spot node back."""
        gone = self.nodes.pop(instance_id)
        for task in list(self.tasks.values()):
            if task.container_instance == gone.container_instance:
                self.end(task, None, "SpotInterruption", "Host EC2 (instance terminated)")

    def _pass(self) -> None:
        for task in list(self.tasks.values()):
            if not task.is_over and task.started_at is None:
                self.tasks[task.arn] = replace(task, started_at=self.now, is_running=True)
        for arn, at in list(self._dying.items()):
            if self.now >= at:
                self.end(self.tasks[arn], 75 if self.saves else 137, "UserInitiated")
                del self._dying[arn]
        for each in list(self.nodes.values()):
            if each.state == "Pending":
                self.nodes[each.instance_id] = replace(
                    each,
                    state=IN_SERVICE,
                    takes_tasks=True,
                    container_instance=f"container-instance/{each.instance_id}",
                )
            elif not each.is_healthy and each.state == IN_SERVICE:
                self.nodes[each.instance_id] = replace(each, state=DRAINING)

    def _launch(self) -> None:
        staying = sum(1 for each in self.nodes.values() if not each.is_leaving)
        while self.has_capacity and staying < self.desired:
            self._launched += 1
            made = node(self._launched, state="Pending", takes_tasks=False, container_instance="", launched_at=self.now)
            self.nodes[made.instance_id] = replace(made, instance_type=self.instance_type)
            staying += 1

    def _do(self, action: object) -> None:
        match action:
            case SetDesired(count):
                self.desired = count
            case Start(job):
                attempt = job.last
                assert attempt is not None
                for rank in attempt.ranks:
                    arn = f"task/{job.order.job_id}/{attempt.number}/{rank.index}"
                    self.tasks[arn] = Task(
                        arn, rank.container_instance, job.order.job_id, attempt.number, rank.index, False, None, None
                    )
            case StopTask(arn, _):
                patience = timedelta() if self.saves else self.place.drain
                self._dying.setdefault(arn, self.now + patience)
            case Replace(instance_id, _):
                self.nodes[instance_id] = replace(self.nodes[instance_id], is_healthy=False)
            case Release(instance_id):
                del self.nodes[instance_id]
                self.desired -= 1
            case LetGo(instance_id):
                del self.nodes[instance_id]
