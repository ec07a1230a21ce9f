"""What sinks and collectors say of themselves."""

from pathlib import Path

from agents.collectors.collector import Contribution, Request
from agents.collectors.pool import CollectorPool
from agents.disk.spool import Spool
from agents.errors import SinkError, SinkRejectedError
from agents.minute.batch import Batch
from agents.sinks.spooled_sinks import SpooledSinks
from agents.status.health import CollectorHealth, SinkHealth
from tests.support.agents import MINUTE
from tests.support.sinks import publish


class Sink:
    """Fails as it is told."""

    name = "memory"
    longest_age = 1e9
    is_record = True

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)

    def part(self, batch: Batch) -> Batch:
        return batch

    def send(self, _: object) -> int:
        if self.failures:
            raise self.failures.pop(0)
        return 0


def test_a_sink_tells_what_waits_for_it_and_why_and_when_it_last_took_something(tmp_path: Path) -> None:
    def batch(minute: int, seq: int) -> Batch:
        return Batch(minute, seq, "pretrain/i-1", (), {})

    now = [MINUTE + 60.0]
    sink = Sink(SinkError("throttled"), SinkRejectedError("too big"))
    spooled = SpooledSinks(Spool(tmp_path, ("memory",)), [sink], lambda: now[0])

    publish(spooled, batch(MINUTE, 1), now[0])
    assert spooled.health() == (SinkHealth("memory", None, 1, MINUTE, "throttled"),)
    publish(spooled, batch(MINUTE + 60, 2), now[0])
    assert spooled.health() == (SinkHealth("memory", now[0], 0, None, "refused: too big"),)


def test_a_collector_that_raises_or_is_late_counts_as_failed_and_its_last_answer_gets_old() -> None:
    class Moody:
        name = "moody"

        def collect(self, request: Request) -> Contribution:
            if request.now > MINUTE:
                raise OSError("no")
            return Contribution()

    pool = CollectorPool((Moody(),), deadline=30)
    for minute in (MINUTE, MINUTE + 60, MINUTE + 120):
        pool.collect(Request(minute, ()))

    assert pool.health() == (CollectorHealth("moody", MINUTE, 2),)
