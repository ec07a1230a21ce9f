"""One look: what is written down before what is done, and what becomes of failures."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from fleet.pool.actions import SetDesired, Start, StopTask
from fleet.pool.job import Attempt, Phase, PoolJob, Rank, submitted
from fleet.pool.observed import Fault, Memory, Node, PoolDeployment, Task
from lambdas.pool import handler, service
from lambdas.pool.cluster import EcsCluster
from lambdas.pool.job_table import BusyError, JobTable, Stored
from lambdas.pool.service import Dependencies
from tests.support.client_shapes import shaped
from tests.support.pool_world import NOW, PLACE, node, order

JOB = "11111111-2222-4333-8444-555555555555"
REFUSED = ClientError({"Error": {"Code": "Throttling", "Message": "slow down"}}, "SetDesiredCapacity")


class Memories:
    """A pool in memory that remembers in which order it was used, and fails where a test says."""

    def __init__(self, *jobs: PoolJob, nodes: int = 0) -> None:
        self.said: list[str] = []
        self.jobs = {job.order.job_id: job for job in jobs}
        self.nodes = tuple(node(index) for index in range(nodes))
        self.fails: set[str] = set()
        self.is_closed = False
        everything: Any = self
        self.aws = Dependencies(everything, everything, everything)

    def _say(self, what: str) -> None:
        self.said.append(what)
        if what in self.fails:
            raise REFUSED

    @contextmanager
    def turn(self, fleet: str, now: datetime) -> Iterator[None]:
        if "busy" in self.fails:
            raise BusyError(fleet)
        yield
        self.said.append("turn is over")

    def read(self, fleet: str) -> Stored:
        self._say("read")
        return Stored(tuple(self.jobs.values()), Memory(), (), {}, self.is_closed)

    def write(self, job: PoolJob) -> None:
        self._say("write")
        self.jobs[job.order.job_id] = job

    def remember(self, fleet: str, memory: Memory) -> None: ...

    def note(self, fleet: str, faults: Iterable[Fault]) -> None:
        self._say("note")

    def of(self, place: PoolDeployment) -> tuple[int, tuple[Node, ...]]:
        return len(self.nodes), self.nodes

    def set_desired(self, place: PoolDeployment, nodes: int) -> None:
        self._say(f"desire {nodes}")

    def replace(self, instance_id: str) -> None: ...

    def release(self, instance_id: str) -> None: ...

    def let_go(self, place: PoolDeployment, instance_id: str) -> None: ...

    def joined(self, place: PoolDeployment, nodes: Iterable[Node]) -> tuple[Node, ...]:
        return tuple(nodes)

    def tasks(self, place: PoolDeployment) -> tuple[Task, ...]:
        return ()

    def start(self, place: PoolDeployment, action: Start) -> tuple[str, ...]:
        self._say("start")
        return ("fleet trn1-spot: job on i-1: RESOURCE:MEMORY",)

    def stop(self, place: PoolDeployment, action: StopTask) -> None: ...


def job() -> PoolJob:
    return submitted(replace(order(), job_id=JOB))


def test_an_attempt_is_written_down_before_it_is_started_and_its_failures_are_told() -> None:
    pool = Memories(job(), nodes=2)
    (seen,) = service.look(pool.aws, [PLACE], NOW)
    assert pool.said == ["read", "write", "start", "turn is over"]
    assert seen.problems == ("fleet trn1-spot: job on i-1: RESOURCE:MEMORY",)
    assert pool.jobs[JOB].phase is Phase.STARTING


def test_nothing_is_started_that_could_not_be_written_down() -> None:
    pool = Memories(job(), nodes=2)
    pool.fails = {"write"}
    (seen,) = service.look(pool.aws, [PLACE], NOW)
    assert "start" not in pool.said
    assert "Throttling" in seen.problems[0]


def test_what_fails_is_told_and_decided_again() -> None:
    pool = Memories(job())
    pool.fails = {"desire 2"}
    for _ in range(2):
        (seen,) = service.look(pool.aws, [PLACE], NOW)
        assert seen.done == ()
        assert seen.problems[0].startswith("fleet trn1-spot: SetDesired: ClientError")
    pool.fails = set()
    assert service.look(pool.aws, [PLACE], NOW)[0].done == (SetDesired(2),)


def test_a_pool_that_cannot_be_seen_keeps_no_other_from_being_looked_at() -> None:
    pool = Memories()
    pool.fails = {"read"}
    sound = Memories(job())

    class Both:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                first = arguments[0]
                is_sound = (first.fleet if isinstance(first, PoolDeployment) else first) == "sound"
                return getattr(sound if is_sound else pool, name)(*arguments)

            return call

    both: Any = Both()
    looks = service.look(Dependencies(both, both, both), [PLACE, replace(PLACE, fleet="sound")], NOW)
    assert [bool(each.problems) for each in looks] == [True, False]
    assert looks[1].done == (SetDesired(2),)


def test_the_handler_counts_problems_of_a_whole_look_and_none_of_one_that_somebody_else_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[float] = []
    pool = Memories(job())
    monkeypatch.setattr(handler, "emit", lambda _, value, __: counted.append(value))
    monkeypatch.setattr(handler, "_settings", lambda: SimpleNamespace(environment="staging", fleets=("trn1-spot",)))
    monkeypatch.setattr(handler, "_places", lambda _: (PLACE,))
    monkeypatch.setattr(handler, "_dependencies", lambda: pool.aws)
    context: Any = SimpleNamespace(aws_request_id="1")

    assert handler.lambda_handler({"detail": {}}, context) == {"looked_at": ["trn1-spot"], "problems": []}
    pool.fails = {"desire 2"}
    handler.lambda_handler({"detail": {}}, context)
    pool.fails = {"busy"}
    assert handler.lambda_handler({"detail": {}}, context)["looked_at"] == []
    assert counted == [0, 1]


Stubbed = Callable[[str], tuple[Any, Stubber]]


def test_a_container_that_does_not_start_is_told_and_the_others_start(stubbed: Stubbed) -> None:
    ecs, answers = stubbed("ecs")
    answers.add_response("start_task", {"tasks": [], "failures": [{"arn": "x", "reason": "RESOURCE:CPU"}]})
    pool = Memories(job(), nodes=2)
    service.look(pool.aws, [PLACE], NOW)
    begun = pool.jobs[JOB]
    attempt = replace(begun.attempts[0], ranks=begun.attempts[0].ranks[:1])
    said = EcsCluster(ecs).start(PLACE, Start(replace(begun, attempts=(attempt,))))
    assert said == ("fleet trn1-spot: one on i-0: RESOURCE:CPU",)
    answers.add_client_error("start_task", "ServerException", "try again")
    (line,) = EcsCluster(ecs).start(PLACE, Start(replace(begun, attempts=(attempt,))))
    assert "try again" in line


def test_a_turn_that_somebody_has_is_not_taken(stubbed: Stubbed) -> None:
    dynamodb, answers = stubbed("dynamodb")
    answers.add_client_error("update_item", "ConditionalCheckFailedException")
    with pytest.raises(BusyError), JobTable(dynamodb, "jobs").turn("trn1-spot", NOW):
        pass
    answers.add_client_error("update_item", "ProvisionedThroughputExceededException")
    with pytest.raises(ClientError), JobTable(dynamodb, "jobs").turn("trn1-spot", NOW):
        pass


def test_a_job_of_many_starts_is_written_compressed_and_read_again() -> None:
    ranks = tuple(Rank(n, f"i-{n}", f"ci-{n}", "10.0.0.1", "trn1.32xlarge") for n in range(100))
    attempts = tuple(Attempt(number, NOW, ranks) for number in range(1, 9))
    job = replace(submitted(order(nodes=100)), attempts=attempts)
    written: list[dict[str, Any]] = []

    def write(**asked: Any) -> dict[str, Any]:
        written.append(asked)
        return {}

    items = SimpleNamespace(
        update_item=write,
        query=lambda **_: {
            "Items": [{"item": written[0]["Key"]["item"], "body": written[0]["ExpressionAttributeValues"][":body"]}]
        },
    )
    table = JobTable(shaped("dynamodb", items), "jobs")
    table.write(job)
    assert table.read(PLACE.fleet).jobs == (job,)
    assert len(written[0]["ExpressionAttributeValues"][":body"]["B"]) < 40_000


@pytest.mark.parametrize(("item", "is_closed"), [({"closed_by": {"S": "budget"}}, True), ({}, False)])
def test_a_pool_that_its_budget_has_closed_starts_nothing(item: dict[str, Any], is_closed: bool) -> None:
    own = {"item": {"S": "pool"}, **item}
    items = shaped("dynamodb", SimpleNamespace(query=lambda **_: {"Items": [own]}))
    assert JobTable(items, "jobs").read("trn1-spot").is_closed is is_closed

    pool = Memories(submitted(order(nodes=1)), nodes=2)
    pool.is_closed = is_closed
    (seen,) = service.look(pool.aws, [PLACE], NOW)

    assert any(isinstance(action, Start) for action in seen.done) is not is_closed
