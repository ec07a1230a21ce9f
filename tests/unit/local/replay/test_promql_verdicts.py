"""The rules on scenarios of the corpus: every verdict of every minute is the one that Prometheus gives.

All of the corpus by ``python -m tests.support.promql_corpus``; docs/alarm-evaluation.md has the figures.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from local.replay.delivery import AT_ONCE, Delivery
from local.replay.scenario import CORPUS, Scenario, load
from tests.support.needs import needs
from tests.support.promql_corpus import Watched, compared, watched

pytestmark = needs("promtool")
MINUTES = 75
DRAWN = Delivery(name="drawn", delay_seconds=(0, 300), lost_share=0.05, repeated_share=0.05, skew_minutes=3)
THOROUGH = (
    ("hardware-with-peers", AT_ONCE),
    ("hang-one-job-of-two", AT_ONCE),
    ("stall-on-shared-node", AT_ONCE),
    ("blind-one-node-of-two", DRAWN),
)


def scenario(name: str, minutes: int = MINUTES) -> Scenario:
    return load(CORPUS / f"{name}.yaml").model_copy(update={"minutes": minutes, "incidents": (), "maintenance": ()})


@pytest.fixture(scope="module")
def at_once() -> Watched:
    return watched(scenario("hardware-small-node"))


def test_states_are_those_of_prometheus_minute_by_minute(at_once: Watched, tmp_path: Path) -> None:
    found = compared(at_once, tmp_path)

    assert found.differences == ""
    assert not at_once.is_late
    assert found.compared == MINUTES * len(at_once.specs)
    assert found.series > 20


def test_a_single_state_that_is_wrong_is_seen(at_once: Watched, tmp_path: Path) -> None:
    place = next(index for index, look in enumerate(at_once.looks) if any(look.in_alarm.values()))
    quiet = replace(at_once.looks[place], in_alarm=dict.fromkeys(at_once.looks[place].in_alarm, ()))
    wrong = replace(at_once, looks=[*at_once.looks[:place], quiet, *at_once.looks[place + 1 :]])

    assert "HardwareFault" in compared(wrong, tmp_path).differences


def test_what_can_be_seen_of_late_samples_returns_what_prometheus_returns(tmp_path: Path) -> None:
    late = watched(scenario("hardware-small-node", 40), delivery=DRAWN)
    found = compared(late, tmp_path)

    assert found.differences == ""
    assert late.is_late
    assert found.series > 5


@pytest.mark.soak
@pytest.mark.parametrize(("name", "delivery"), THOROUGH, ids=[name for name, _ in THOROUGH])
def test_verdicts_on_more_of_the_corpus_are_those_of_prometheus(name: str, delivery: Delivery, tmp_path: Path) -> None:
    found = compared(watched(scenario(name, 100), delivery=delivery), tmp_path)

    assert found.differences == ""
    assert found.compared >= 100
