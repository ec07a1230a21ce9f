"""Idle in dollars: who is woken, who gets a ticket, and what is one incident."""

from typing import Literal

import pytest

from fleet.alarms import AlarmSettings, AlarmSpec, Severity, Thresholds, fleet_alarms
from fleet.fleet_spec import MarketKind
from local.alarm_evaluation import State
from tests.support.alarm_minutes import Minute, last_state, states

DEAR, CHEAP = 21.5, 1.34


def alarm(key: str, purpose: Literal["training", "inference"] = "training", **thresholds: float) -> AlarmSpec:
    settings = AlarmSettings(
        environment="prod",
        fleet="f",
        purpose=purpose,
        market=MarketKind.ON_DEMAND,
        nodes=16,
        thresholds=Thresholds(**thresholds),
    )
    found = next(each for each in fleet_alarms(settings) if each.key == key)
    assert isinstance(found, AlarmSpec)
    return found


def node_minutes(idle: float, usd: float | None = DEAR, **said: float) -> Minute:
    """Averages over one node, or over as many as are ``PresentNodes``."""
    minute = {"NodesIdle": idle, "NodesCompiling": 0.0, "NodesStartup": 0.0, "PresentNodes": 1.0, **said}
    return minute if usd is None else {**minute, "CostUsdPerHour": usd}


WORKS, IDLES = node_minutes(0.0), node_minutes(1.0)


def test_a_dear_job_that_idles_pages_in_its_fourth_minute_and_no_ticket_follows() -> None:
    assert states(alarm("IdleAllocated"), [WORKS, *[IDLES] * 4])[-2:] == [State.OK, State.ALARM]
    assert last_state(alarm("IdleBelowFloor"), (60, IDLES)) is State.OK


def test_a_notebook_is_a_ticket_and_wakes_nobody() -> None:
    notebook = node_minutes(1.0, CHEAP)

    assert last_state(alarm("IdleAllocated"), (60, notebook)) is State.OK
    assert last_state(alarm("IdleBelowFloor"), (44, notebook)) is State.OK
    assert last_state(alarm("IdleBelowFloor"), (45, notebook)) is State.ALARM


def test_what_the_owner_calls_worth_waking_for_decides_and_the_waste_of_a_node_where_nothing_is_said() -> None:
    notebook = node_minutes(1.0, CHEAP)

    assert last_state(alarm("IdleAllocated", wasted_usd_per_node_hour=0.5), (9, notebook)) is State.ALARM
    asked = alarm("IdleAllocated", wasted_usd_per_node_hour=0.5, idle_usd_per_hour=100)
    assert last_state(asked, (9, IDLES)) is State.OK
    assert last_state(alarm("IdleAllocated", idle_usd_per_hour=0), (60, WORKS)) is State.OK


def test_dollars_are_those_of_all_idle_nodes_together() -> None:
    # Eight of sixteen small nodes: 10.72 dollars an hour.
    half = node_minutes(0.5, CHEAP, PresentNodes=16)

    assert last_state(alarm("IdleAllocated"), (9, half)) is State.ALARM


def test_a_node_whose_price_nobody_knows_is_not_cheap() -> None:
    assert last_state(alarm("IdleAllocated"), (9, node_minutes(1.0, None))) is State.ALARM


def test_fifteen_nodes_that_wait_for_one_that_compiles_wake_nobody_and_one_that_idles_beside_them_does() -> None:
    waits = node_minutes(15 / 16, NodesStartup=15 / 16, NodesCompiling=1, PresentNodes=16)
    beside = node_minutes(15 / 16, NodesStartup=14 / 16, NodesCompiling=1, PresentNodes=16)

    assert last_state(alarm("IdleAllocated"), (180, waits)) is State.OK
    assert last_state(alarm("IdleAllocated"), (180, waits), (9, beside)) is State.ALARM
    # Nobody compiles for them any more.
    assert last_state(alarm("IdleAllocated"), (180, waits), (4, {**waits, "NodesCompiling": 0.0})) is State.ALARM


def test_metrics_that_are_missing_for_ten_minutes_are_neither_an_end_nor_a_beginning() -> None:
    seen = states(alarm("IdleAllocated"), [*[IDLES] * 9, *[{}] * 10, *[IDLES] * 9])

    assert seen[3:] == [State.ALARM] * 25


def test_a_flap_is_one_incident_and_lasting_work_ends_it() -> None:
    turns = [*[IDLES] * 5, *[WORKS] * 5] * 3

    assert set(states(alarm("IdleAllocated"), turns)[4:]) == {State.ALARM}
    assert last_state(alarm("IdleAllocated"), (9, IDLES), (15, WORKS)) is State.OK


@pytest.mark.parametrize("usd", [DEAR, CHEAP, None])
def test_an_endpoint_that_idles_is_one_ticket_whatever_it_costs(usd: float | None) -> None:
    idle = alarm("IdleAllocated", "inference")

    assert idle.severity is Severity.TICKET
    assert last_state(idle, (9, node_minutes(1.0, usd))) is State.ALARM
    with pytest.raises(StopIteration):
        alarm("IdleBelowFloor", "inference")
