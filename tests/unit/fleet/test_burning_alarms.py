"""Nodes without a job, in dollars: who is woken, who gets a ticket, and of which fleets there is nothing to say."""

from dataclasses import replace
from typing import Literal

import pytest

from fleet.alarms import AlarmSettings, AlarmSpec, Severity, Thresholds, contributor_alarms, fleet_alarms
from fleet.fleet_spec import MarketKind
from local.alarm_evaluation import State
from tests.support.alarm_minutes import Minute, last_state

DEAR, CHEAP = 21.5, 1.34
KEYS = {"NodesWithoutJob", "WithoutJobBelowFloor", "CrashLoop"}


def settings(
    market: MarketKind = MarketKind.ON_DEMAND,
    purpose: Literal["training", "inference"] = "training",
    **thresholds: float,
) -> AlarmSettings:
    return AlarmSettings(
        environment="prod",
        fleet="f",
        purpose=purpose,
        market=market,
        nodes=16,
        thresholds=Thresholds(**thresholds),
    )


def alarm(key: str, of: AlarmSettings | None = None) -> AlarmSpec:
    found = next(each for each in fleet_alarms(of or settings()) if each.key == key)
    assert isinstance(found, AlarmSpec)
    return found


def minute(unused: float, usd: float | None = DEAR, present: float = 1.0) -> Minute:
    said = {"NodesUnused": unused, "PresentNodes": present}
    return said if usd is None else {**said, "CostUsdPerHour": usd}


def test_a_dear_node_that_nobody_uses_pages_and_no_ticket_follows() -> None:
    assert last_state(alarm("NodesWithoutJob"), (2, minute(1))) is State.OK
    assert last_state(alarm("NodesWithoutJob"), (3, minute(1))) is State.ALARM
    assert last_state(alarm("WithoutJobBelowFloor"), (60, minute(1))) is State.OK


def test_a_cheap_one_is_a_ticket_and_wakes_nobody() -> None:
    assert last_state(alarm("NodesWithoutJob"), (60, minute(1, CHEAP))) is State.OK
    assert last_state(alarm("WithoutJobBelowFloor"), (19, minute(1, CHEAP))) is State.OK
    assert last_state(alarm("WithoutJobBelowFloor"), (45, minute(1, CHEAP))) is State.ALARM


def test_dollars_are_those_of_all_nodes_without_a_job_together() -> None:
    assert last_state(alarm("NodesWithoutJob"), (60, minute(3 / 16, CHEAP, present=16))) is State.OK
    assert last_state(alarm("NodesWithoutJob"), (60, minute(4 / 16, CHEAP, present=16))) is State.ALARM


def test_a_node_whose_price_nobody_knows_is_not_cheap() -> None:
    assert last_state(alarm("NodesWithoutJob"), (9, minute(1, None))) is State.ALARM


def test_the_owners_floor_is_that_of_idle_jobs() -> None:
    assert last_state(alarm("NodesWithoutJob", settings(idle_usd_per_hour=100)), (60, minute(1))) is State.OK
    assert last_state(alarm("NodesWithoutJob", settings(idle_usd_per_hour=0)), (60, minute(0))) is State.OK


@pytest.mark.parametrize("market", [MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK])
@pytest.mark.parametrize("usd", [DEAR, CHEAP, None])
def test_what_is_paid_in_advance_is_one_ticket_whatever_it_costs(market: MarketKind, usd: float | None) -> None:
    ticket = alarm("NodesWithoutJob", settings(market))

    assert ticket.severity is Severity.TICKET
    assert last_state(ticket, (9, minute(1, usd))) is State.ALARM
    assert {each.key for each in fleet_alarms(settings(market))} & KEYS == {"NodesWithoutJob", "CrashLoop"}


def test_a_crash_loop_pages_from_the_floor_on_and_is_silence_below() -> None:
    looping = {"NodesCrashLooping": 0.5, "PresentNodes": 2.0}

    assert last_state(alarm("CrashLoop"), (2, {**looping, "CostUsdPerHour": DEAR})) is State.OK
    assert last_state(alarm("CrashLoop"), (3, {**looping, "CostUsdPerHour": DEAR})) is State.ALARM
    assert last_state(alarm("CrashLoop"), (60, {**looping, "CostUsdPerHour": CHEAP})) is State.OK
    assert last_state(alarm("CrashLoop", settings(MarketKind.RESERVATION)), (9, looping)) is State.ALARM


@pytest.mark.parametrize(
    ("thresholds", "floor"),
    [
        ({}, 5.0),
        ({"wasted_usd_per_node_hour": 12.0}, 12.0),
        ({"wasted_usd_per_node_hour": 0.5}, 5.0),
        ({"wasted_usd_per_node_hour": 0.5, "idle_usd_per_hour": 1.0}, 1.0),
    ],
)
def test_nobody_is_woken_for_less_than_five_dollars_unless_the_owner_says_so(
    thresholds: dict[str, float], floor: float
) -> None:
    of = replace(settings(), thresholds=Thresholds(**thresholds))

    assert alarm("CrashLoop", of).threshold == floor
    assert alarm("NodesWithoutJob", of).threshold == floor


def test_it_says_for_how_long_nodes_may_have_no_job() -> None:
    assert "for more than 30 minutes" in alarm("NodesWithoutJob").summary
    assert "for more than 120 minutes" in alarm("NodesWithoutJob", settings(MarketKind.RESERVATION)).summary
    assert "for more than 45 minutes" in alarm("NodesWithoutJob", settings(without_job_minutes=45)).summary


def test_an_endpoints_nodes_have_no_jobs() -> None:
    serves = settings(purpose="inference")

    assert {each.key for each in (*fleet_alarms(serves), *contributor_alarms(serves))} & KEYS == set()


@pytest.mark.parametrize("market", MarketKind)
def test_both_sets_have_the_same_alarms(market: MarketKind) -> None:
    classic = {each.key: each.severity for each in fleet_alarms(settings(market)) if each.key in KEYS}

    assert {each.key: each.severity for each in contributor_alarms(settings(market)) if each.key in KEYS} == classic
