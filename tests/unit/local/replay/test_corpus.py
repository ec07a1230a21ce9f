"""The alarms on the corpus: nothing that must be told is missed, and nobody is woken for nothing.

The fast scenarios run here; all of them with ``fleet replay`` (docs/replay.md has the figures).
"""

from pathlib import Path

import pytest

from local.replay.delivery import Delivery, Late
from local.replay.run import OURS, SETS, Replay, replay, replay_under
from local.replay.scenario import CORPUS, load
from local.replay.score import score

FILES = sorted(CORPUS.glob("*.yaml"))
ALL = {file.stem: load(file) for file in FILES}
LATE = (*(Delivery.after(minutes) for minutes in (1, 2, 5)), Delivery(name="affected late", late=Late.AFFECTED))
# One of each kind of incident, and a change that may not page.
LATE_TOO = [
    "blind-one-node-of-two",
    "endpoint-sick",
    "hang-one-job-of-two",
    "hardware-two-nodes",
    "healthy-deploy-drains-nodes",
    "idle-one-job-of-two",
    "stall-one-job-of-two",
]
OWN = {OURS: SETS[OURS]}
FAST = [name for name, scenario in ALL.items() if scenario.fast]


def test_the_corpus_is_large_and_holds_every_kind_of_incident() -> None:
    hours = sum(scenario.node_hours for scenario in ALL.values())
    kinds = {incident.kind for scenario in ALL.values() for incident in scenario.incidents}
    quiet = [scenario for scenario in ALL.values() if not scenario.incidents]

    assert (len(ALL) >= 40, hours >= 500, len(quiet) >= 15) == (True, True, True)
    assert kinds == {
        "idle", "waste", "hang", "hardware", "blind", "straggler", "compiler", "capacity", "endpoint",
        "unused", "crash-loop",
    }  # fmt: skip
    assert all(name == scenario.name for name, scenario in ALL.items())


@pytest.mark.parametrize("name", FAST)
def test_pages_and_tickets_come_in_time_and_none_is_false(name: str) -> None:
    assert_all_is_told_and_nothing_else(replay(ALL[name], OWN, CORPUS))


@pytest.mark.soak
@pytest.mark.parametrize("name", LATE_TOO)
def test_late_data_are_told_as_much_later_and_make_nothing_false(name: str) -> None:
    for replayed in replay_under(ALL[name], OWN, LATE, CORPUS):
        assert_all_is_told_and_nothing_else(replayed)


def assert_all_is_told_and_nothing_else(replayed: Replay) -> None:
    found = score([replayed], OURS)

    assert [outcome.incident for outcome in found.outcomes if outcome.first is None] == []
    assert [each.told for each in found.judged if not each.is_true] == []


@pytest.mark.parametrize("name", ["idle-one-job-of-four", "stall-on-shared-node"])
def test_a_job_that_idles_or_starves_is_no_slow_node(name: str) -> None:
    told = replay(ALL[name], {OURS: SETS[OURS]}).told[OURS]

    assert [each.alarm for each in told] == [ALL[name].incidents[0].alarms[0]]


def test_the_naive_set_misses_one_idle_job_of_two() -> None:
    found = score([replay(ALL["idle-one-job-of-two"], {"naive": SETS["naive"]}, Path())], "naive")

    assert found.recall == 0


def test_zeros_in_place_of_missing_figures_page_for_healthy_nodes() -> None:
    found = score(
        [replay(ALL["healthy-short-jobs"], {"cloudwatch-agent": SETS["cloudwatch-agent"]})], "cloudwatch-agent"
    )

    assert found.judged
    assert found.precision == 0
