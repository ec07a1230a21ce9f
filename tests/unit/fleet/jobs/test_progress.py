"""Minutes, dollars and pace of a job that was submitted."""

from datetime import UTC, datetime, timedelta

import pytest

from fleet.fleet_spec import MarketKind
from fleet.instances import instance_type
from fleet.jobs import Job
from fleet.jobs.forecast import Attempt, NodeRun, Pace, money
from fleet.prices import price_for
from tests.support.capacity import TRN1

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
JOB = Job("llama", "research", "pretrain", 2, "", (), tokens_wanted=1e9)


def node(*attempts: tuple[float, float | None]) -> NodeRun:
    """Attempts as minutes before NOW: of the start, and of the end."""
    runs = [
        Attempt(NOW - timedelta(minutes=start), None if stop is None else NOW - timedelta(minutes=stop))
        for start, stop in attempts
    ]
    return NodeRun(0, "RUNNING", "", tuple(runs))


@pytest.mark.parametrize(
    ("attempts", "minutes"),
    [
        ([(10, 4)], 6),
        # 5.5 started minutes are 6; the second attempt still runs.
        ([(20, 14.5), (3, None)], 6 + 3),
        ([], 0),
        # A clock of Batch's that is ahead of ours takes nothing off.
        ([(-1, None)], 0),
    ],
)
def test_a_started_minute_is_a_minute_of_each_attempt(attempts: list[tuple[float, float | None]], minutes: int) -> None:
    assert node(*attempts).minutes(NOW) == minutes


def test_an_attempt_that_never_started_took_no_minute() -> None:
    assert NodeRun(0, "FAILED", "", (Attempt(None, NOW),)).minutes(NOW) == 0


def test_dollars_are_node_minutes_at_the_price_to_the_cent() -> None:
    price = price_for(instance_type("trn1.32xlarge"), "us-east-2", MarketKind.ON_DEMAND)
    pace = Pace((1_000.0, 9_000.0, 1_000.0), tokens_done=4e8, tensor_engine_percent=None)
    found = money(JOB, TRN1, (node((61, 0)), node((61, 0))), pace, price, NOW)
    # 122 minutes x 21.50 / 60 = 43.7166...
    assert (found.node_minutes, found.usd_so_far) == (122, 43.72)
    assert found.to_come is not None
    # 6e8 tokens at the median of 1,000 a second; the minute that was sent twice does not count.
    assert found.to_come.hours == pytest.approx(6e8 / 1_000 / 3_600)


def test_what_nobody_reported_is_not_known_and_not_zero() -> None:
    found = money(JOB, TRN1, (node((10, 0)),), Pace((), None, None), None, NOW)
    assert (found.usd_so_far, found.to_come) == (None, None)


def test_a_log_is_the_newest_that_there_is() -> None:
    attempts = (Attempt(NOW, NOW, log_stream="first"), Attempt(NOW, None, log_stream=""))
    assert NodeRun(0, "RUNNING", "", attempts).log_stream == "first"
