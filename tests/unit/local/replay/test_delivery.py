"""Replayed data are seen when they come: each datum from its own moment on, at its own timestamp."""

import pytest

from fleet.node_state import NodeState
from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.replay.delivery import AT_ONCE, SWEEP, Arrivals, Batch, Delivery, Late
from local.replay.run import OURS, SETS, replay, replay_under
from local.replay.scenario import CORPUS, load
from local.replay.store import Point, Store

KEY = SeriesKey("NeuronFleet", "NodesFault", frozenset())


def seen(store: Store, now: float, statistic: str = "Maximum") -> dict[int, float]:
    store.reveal(now)
    return store.values(KEY, statistic, 0, 600, 60)


def point(minute: int, value: float) -> Point:
    return Point(KEY, minute, Datum.of_values([value]))


def at(moment: int, offset: int = 0, times: int = 1) -> Batch:
    return Batch(offset, times, lambda: moment)


def test_a_datum_is_not_there_before_its_moment_and_then_fills_its_own_minute() -> None:
    store = Store()
    store.take([point(0, 0.0)], at(60))
    store.take([point(0, 1.0)], at(125))

    assert [seen(store, now) for now in (59, 60, 124)] == [{}, {0: 0.0}, {0: 0.0}]
    # The minute was worked out before: what comes late is not hidden by that.
    assert seen(store, 125) == {0: 1.0}


def test_a_repeated_batch_counts_twice_and_a_wrong_clock_moves_it() -> None:
    store = Store()
    store.take([point(120, 1.0)], at(0, offset=-60, times=2))

    assert seen(store, 0, "SampleCount") == {60: 2.0}


def moments(delivery: Delivery, state: NodeState = NodeState.RUNNING, nodes: int = 40) -> list[int]:
    arrivals = Arrivals(delivery, "a scenario")
    return [arrivals.of_node(f"node-{index}", state, 600).visible_at() for index in range(nodes)]


@pytest.mark.parametrize(
    ("delivery", "earliest", "latest"),
    [
        (AT_ONCE, 600, 600),
        (Delivery.after(2), 720, 720),
        (Delivery(delay_seconds=(0, 300)), 600, 900),
        (Delivery(spread_seconds=20), 600, 620),
        (Delivery(late=Late.HALF), 600, 660),
        (Delivery(lost_share=0.5), 600, 780),
    ],
)
def test_moments_lie_where_the_delivery_says_and_are_drawn_the_same_again(
    delivery: Delivery, earliest: int, latest: int
) -> None:
    found = moments(delivery)

    assert (min(found) >= earliest, max(found) <= latest) == (True, True)
    assert (len(set(found)) > 1) is (earliest < latest)
    assert found == moments(delivery)


def test_only_nodes_that_do_not_run_are_late_where_those_are_asked_for() -> None:
    affected = Delivery(late=Late.AFFECTED)

    assert (set(moments(affected)), set(moments(affected, NodeState.FAULT))) == ({600}, {660})


def test_a_node_keeps_its_clock() -> None:
    arrivals = Arrivals(Delivery(skew_minutes=3), "a scenario")
    offsets = {
        f"node-{index}": {arrivals.of_node(f"node-{index}", None, sent).offset for sent in (0, 60, 120)}
        for index in range(20)
    }

    assert all(len(each) == 1 for each in offsets.values())
    assert {next(iter(each)) for each in offsets.values()} == {-180, 0, 180}


def test_a_scenario_comes_to_the_same_alone_and_beside_other_deliveries() -> None:
    scenario = load(CORPUS / "hardware-small-node.yaml").model_copy(update={"minutes": 40})
    sets = {OURS: SETS[OURS]}

    together = replay_under(scenario, sets, SWEEP[:3])

    assert [replay(scenario, sets, delivery=each) for each in SWEEP[:3]] == together
    assert [round(each.told[OURS][0].minute - together[0].told[OURS][0].minute) for each in together] == [0, 1, 2]
