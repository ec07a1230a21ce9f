"""The set that follows jobs and nodes, beside the classic one: who is told of what, and when."""

from math import ceil
from typing import Any

import pytest

from fleet.alarms import AlarmSettings, ContributorSpec, contributor_alarms, fleet_alarms
from fleet.fleet_spec import MarketKind
from lambdas.pager.contributors import TOGETHER
from local.alarm_evaluation.promql import parse, selectors_in
from local.replay.delivery import AT_ONCE, Delivery
from local.replay.followed import followed_alarms
from local.replay.run import FOLLOWED, OURS, SETS, replay
from local.replay.scenario import Scenario
from local.replay.told import TOGETHER_MINUTES, Told

SETTINGS = AlarmSettings(environment="e", fleet="f", purpose="training", market=MarketKind.ON_DEMAND, nodes=2)


def faults(*events: dict[str, Any], minutes: int = 40, maintenance: tuple[dict[str, Any], ...] = ()) -> Scenario:
    """Two nodes of one job, and what happens to them."""
    running = [{"at": 0, "kind": "running", "tensor_engine_percent": 42, "core_percent": 97}]
    fleet = {
        "instance_type": "trn1.2xlarge",
        "nodes": 2,
        "jobs": [{"id": "job", "phases": running}],
        "events": [{"kind": "memory-error", **event} for event in events],
    }
    return Scenario.model_validate(
        {"name": "s", "title": "s", "minutes": minutes, "fleets": {"f": fleet}, "maintenance": maintenance}
    )


def told(scenario: Scenario, alarm_set: str = FOLLOWED, delivery: Delivery = AT_ONCE) -> list[Told]:
    found = replay(scenario, {alarm_set: SETS[alarm_set]}, delivery=delivery).told[alarm_set]
    return [each for each in found if each.alarm == "HardwareFault"]


def pages(scenario: Scenario, alarm_set: str = FOLLOWED, delivery: Delivery = AT_ONCE) -> list[tuple[float, list[str]]]:
    """When, and of which nodes."""
    return [
        (round(each.minute, 1), [dict(labels)["node"] for labels in each.contributors])
        for each in told(scenario, alarm_set, delivery)
    ]


SECOND_LATER = ({"nodes": [0], "at": 10, "until": 50}, {"nodes": [1], "at": 30, "until": 50})


def test_a_second_fault_is_told_while_the_first_lasts_and_not_by_the_classic_set() -> None:
    assert pages(faults(*SECOND_LATER)) == [(11.2, ["f-0"]), (31.2, ["f-1"])]
    assert pages(faults(*SECOND_LATER), OURS) == [(11.2, [])]


def test_what_begins_within_minutes_is_one_page_as_the_pager_groups_it() -> None:
    together = faults({"nodes": [0], "at": 10, "until": 20}, {"nodes": [1], "at": 13, "until": 40})

    assert pages(together) == [(11.2, ["f-0", "f-1"])]
    assert TOGETHER.total_seconds() == 60 * TOGETHER_MINUTES


def replaced(node: int, at: int) -> dict[str, Any]:
    return {"kind": "node-gone", "nodes": [node], "at": at, "until": at + 1}


def test_a_page_of_several_is_over_when_the_last_of_them_is() -> None:
    both = ({"nodes": [0], "at": 10, "until": 12}, {"nodes": [1], "at": 12, "until": 14})
    (lasting,) = told(faults(*both, replaced(0, 12)))
    (over,) = told(faults(*both, replaced(0, 12), replaced(1, 30), minutes=70))

    assert lasting.resolved is None
    rule = next(each for each in contributor_alarms(SETTINGS) if each.key == "HardwareFault")
    range_minutes = max(seconds for _, seconds in selectors_in(parse(rule.expression))) / 60
    # The range after the last minute in which the second one said so, the next look, and the recovery.
    assert over.resolved is not None
    assert over.resolved == pytest.approx(ceil(30 + range_minutes - 1 / 6) + rule.recovery_seconds / 60 + 1 / 6)


@pytest.mark.parametrize("minutes", [1, 2, 5])
def test_data_that_are_late_are_told_as_much_later_and_no_more(minutes: int) -> None:
    assert pages(faults(*SECOND_LATER), delivery=Delivery.after(minutes)) == [
        (11.2 + minutes, ["f-0"]),
        (31.2 + minutes, ["f-1"]),
    ]


def test_what_a_node_could_not_send_waits_on_its_disk_and_is_seen_when_it_comes() -> None:
    short = {"nodes": [0], "at": 10, "until": 13}
    cut_off = {"kind": "no-route", "nodes": [0], "at": 9, "until": 14}

    assert pages(faults(short)) == [(11.2, ["f-0"])]
    # The minutes of the fault are within the range that the rule looks at.
    assert pages(faults(short, cut_off)) == [(15.2, ["f-0"])]
    # What was on the disk of a machine that is replaced is gone.
    assert pages(faults(short, cut_off, {"kind": "node-gone", "nodes": [0], "at": 13, "until": 14})) == []


def test_what_is_muted_and_lasts_is_told_at_the_end_of_the_window_and_what_is_over_is_not() -> None:
    window = ({"at": 5, "until": 35},)

    assert pages(faults({"nodes": [0], "at": 10}, maintenance=window)) == [(35.2, ["f-0"])]
    assert pages(faults({"nodes": [0], "at": 6, "until": 8}, replaced(0, 8), maintenance=window)) == []


def test_a_classic_alarm_whose_place_is_taken_is_evaluated_and_tells_nobody() -> None:
    followed = {spec.name for spec in contributor_alarms(SETTINGS)}
    of_the_set = followed_alarms(SETTINGS)

    told_by_both = [spec.name for spec in fleet_alarms(SETTINGS) if spec.notifies and spec.name in followed]

    assert told_by_both
    assert {spec.name for spec in fleet_alarms(SETTINGS)} <= {spec.name for spec in of_the_set}
    assert [type(each) for each in of_the_set if each.notifies and each.name in told_by_both] == [
        ContributorSpec for _ in told_by_both
    ]


@pytest.mark.parametrize("purpose", ["training", "inference"])
def test_every_rule_is_one_that_is_evaluated_here_over_series_of_its_own_fleet(purpose: Any) -> None:
    settings = AlarmSettings(environment="e", fleet="f", purpose=purpose, market=MarketKind.ON_DEMAND, nodes=2)
    read = {
        spec.key: [selector for selector, _ in selectors_in(parse(spec.expression))]
        for spec in contributor_alarms(settings)
    }

    assert read
    for selectors in read.values():
        assert selectors
        assert all(
            each.takes({"__name__": each.metric, "environment": "e", "fleet": "other"}) is False for each in selectors
        )
