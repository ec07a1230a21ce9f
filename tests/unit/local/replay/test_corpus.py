"""The alarms on the corpus: nothing that must be told is missed, and nobody is woken for nothing.

The fast scenarios run here; all of them with ``fleet replay`` (docs/replay.md has the figures).
"""

from pathlib import Path

import pytest

from local.replay.delivery import AT_ONCE, Delivery, Late
from local.replay.run import OURS, SETS, replay, replay_under
from local.replay.scenario import CORPUS, load
from local.replay.score import score

FILES = sorted(CORPUS.glob("*.yaml"))
ALL = {file.stem: load(file) for file in FILES}
DELIVERIES = (AT_ONCE, Delivery.after(1), Delivery.after(5), Delivery(name="affected late", late=Late.AFFECTED))
OWN = {OURS: SETS[OURS]}
FAST = [name for name, scenario in ALL.items() if scenario.fast]


def test_the_corpus_is_large_and_holds_every_kind_of_incident() -> None:
    hours = sum(scenario.node_hours for scenario in ALL.values())
    kinds = {incident.kind for scenario in ALL.values() for incident in scenario.incidents}
    quiet = [scenario for scenario in ALL.values() if not scenario.incidents]

    assert (len(ALL) >= 40, hours >= 500, len(quiet) >= 15) == (True, True, True)
    assert kinds == {"idle", "waste", "hang", "hardware", "blind", "straggler", "compiler", "capacity", "endpoint"}
    assert all(name == scenario.name for name, scenario in ALL.items())


@pytest.mark.parametrize("name", FAST)
def test_pages_and_tickets_come_in_time_and_none_is_false_however_late_data_are(name: str) -> None:
    for delivery, replayed in zip(DELIVERIES, replay_under(ALL[name], OWN, DELIVERIES, CORPUS), strict=True):
        found = score([replayed], OURS)

        assert [outcome.incident for outcome in found.outcomes if outcome.first is None] == [], delivery.name
        assert [each.told for each in found.judged if not each.is_true] == [], delivery.name


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
