"""What the capacity watch publishes, minute by minute, and the state that each alarm takes of it."""

import pytest

from fleet.alarms import AlarmSettings, AlarmSpec, Severity, TreatMissingData, fleet_alarms
from fleet.alarms.capacity import capacity_alarms
from fleet.fleet_spec import MarketKind
from fleet.metrics import CATALOGUE, Publisher
from local.alarm_evaluation import State
from tests.support.alarm_minutes import Minute, last_state, states

ALARM, OK, UNKNOWN = State.ALARM, State.OK, State.INSUFFICIENT_DATA
NOT_ANSWERED: Minute = {}


def settings(market: MarketKind = MarketKind.RESERVATION, purpose: str = "training", nodes: int = 16) -> AlarmSettings:
    return AlarmSettings(
        environment="prod",
        fleet="trn1-pretrain",
        purpose="inference" if purpose == "inference" else "training",
        market=market,
        nodes=nodes,
    )


def alarm(
    key: str, market: MarketKind = MarketKind.RESERVATION, purpose: str = "training", nodes: int = 16
) -> AlarmSpec:
    (found,) = (spec for spec in fleet_alarms(settings(market, purpose, nodes)) if spec.key == key)
    assert isinstance(found, AlarmSpec)
    return found


@pytest.mark.parametrize(
    ("market", "keys"),
    [
        (MarketKind.ON_DEMAND, ["CapacityMissing", "PriceStale"]),
        (MarketKind.SPOT, ["CapacityMissing", "PriceStale", "SpotInterruption"]),
        (MarketKind.RESERVATION, ["CapacityMissing", "PriceStale", "ReservationUnused"]),
        (
            MarketKind.CAPACITY_BLOCK,
            ["CapacityMissing", "PriceStale", "ReservationUnused", "CapacityBlockEnding", "CapacityBlockEndingSoon"],
        ),
    ],
)
def test_a_fleet_has_the_alarms_that_its_market_can_make_true(market: MarketKind, keys: list[str]) -> None:
    assert [spec.key for spec in capacity_alarms(settings(market))] == keys


def test_capacity_wakes_nobody() -> None:
    every = [spec for market in MarketKind for spec in capacity_alarms(settings(market))]

    assert {spec.severity for spec in every} == {Severity.TICKET}


def test_an_alarm_keeps_its_state_for_what_only_the_watch_can_say_each_minute() -> None:
    gauges = {name for name, spec in CATALOGUE.items() if spec.publisher is Publisher.CAPACITY_WATCH}

    every = [spec for market in MarketKind for spec in capacity_alarms(settings(market))]

    assert {spec.key for spec in every if spec.silence is not TreatMissingData.KEEP} == {"SpotInterruption"}
    assert len(gauges) == 10


def test_a_stale_price_is_a_ticket_and_one_bad_read_of_the_table_is_none() -> None:
    spec = alarm("PriceStale", MarketKind.ON_DEMAND)

    assert states(spec, [{"StalePrice": 1}] * 15, before=OK)[-2:] == [OK, ALARM]
    assert states(spec, [*[{"StalePrice": 1}] * 14, {"StalePrice": 0}], before=OK)[-1] is OK


def test_a_missing_node_is_a_ticket_after_three_minutes() -> None:
    minutes = [{"MissingNodes": missing} for missing in (0, 16, 16, 16)]

    assert states(alarm("CapacityMissing"), minutes, before=OK) == [OK, OK, OK, ALARM]


def test_a_node_that_is_replaced_between_two_looks_is_no_ticket() -> None:
    minutes = [{"MissingNodes": missing} for missing in (0, 1, 1, 0, 0, 0)]

    assert set(states(alarm("CapacityMissing"), minutes, before=OK)) == {OK}


def test_capacity_that_came_closes_the_ticket() -> None:
    spec = alarm("CapacityMissing")

    # Of six minutes three must breach: the fourth good minute leaves two.
    seen = states(spec, [{"MissingNodes": 4}] * 6 + [{"MissingNodes": 0}] * 4, before=OK)
    assert seen[5:] == [ALARM, ALARM, ALARM, ALARM, OK]


@pytest.mark.parametrize("state", [OK, ALARM])
@pytest.mark.parametrize("key", ["CapacityMissing", "ReservationUnused", "CapacityBlockEnding"])
def test_minutes_in_which_aws_does_not_answer_change_no_state(key: str, state: State) -> None:
    spec = alarm(key, MarketKind.CAPACITY_BLOCK)

    assert set(states(spec, [NOT_ANSWERED] * 120, before=state)) == {state}


def test_a_watch_that_never_spoke_has_said_neither_good_nor_bad() -> None:
    assert last_state(alarm("CapacityMissing"), (60, NOT_ANSWERED)) is UNKNOWN


def test_a_reservation_is_unused_after_half_an_hour_and_not_a_minute_earlier() -> None:
    spec = alarm("ReservationUnused")

    assert last_state(spec, (5, {"UnusedReservedInstances": 0}), (29, {"UnusedReservedInstances": 3})) is OK
    assert last_state(spec, (5, {"UnusedReservedInstances": 0}), (30, {"UnusedReservedInstances": 3})) is ALARM


def test_a_few_minutes_of_use_begin_the_half_hour_anew() -> None:
    unused: Minute = {"UnusedReservedInstances": 1}

    assert last_state(alarm("ReservationUnused"), (20, unused), (4, {"UnusedReservedInstances": 0}), (29, unused)) is OK


@pytest.mark.parametrize(("key", "minutes"), [("CapacityBlockEnding", 1440), ("CapacityBlockEndingSoon", 90)])
def test_a_block_is_announced_in_the_minute_that_its_end_comes_near(key: str, minutes: int) -> None:
    spec = alarm(key, MarketKind.CAPACITY_BLOCK)

    looks: list[Minute] = [
        {"ReservedInstances": 8, "CapacityBlockMinutesLeft": left} for left in (minutes + 1, minutes, minutes - 1)
    ]

    assert states(spec, looks, before=OK) == [OK, OK, ALARM]


def test_a_block_that_is_extended_is_not_ending_any_more() -> None:
    spec = alarm("CapacityBlockEnding", MarketKind.CAPACITY_BLOCK)
    looks: list[Minute] = [
        {"ReservedInstances": 8, "CapacityBlockMinutesLeft": left} for left in (700, 699, *range(2138, 2132, -1))
    ]

    # A minute that was late must not open it anew: it rests six minutes later.
    assert states(spec, looks, before=OK) == [*[ALARM] * 7, OK]


def test_a_block_that_is_over_is_not_ending_any_more() -> None:
    spec = alarm("CapacityBlockEndingSoon", MarketKind.CAPACITY_BLOCK)
    # EC2 answers, and there is no active block.
    over: Minute = {"ReservedInstances": 0}

    assert states(spec, [{"ReservedInstances": 8, "CapacityBlockMinutesLeft": 1}, *[over] * 6]) == [*[ALARM] * 6, OK]


def test_a_storm_of_interruptions_is_one_ticket() -> None:
    spec = alarm("SpotInterruption", MarketKind.SPOT, "inference")
    notice: Minute = {"SpotInterruptions": 1}
    storm = [notice, *[NOT_ANSWERED] * 9, notice, *[NOT_ANSWERED] * 9, notice]

    assert set(states(spec, storm, before=OK)) == {ALARM}
    # 15 minutes are looked at, and CloudWatch keeps two more in view where data is missing.
    assert states(spec, [notice, *[NOT_ANSWERED] * 17], before=OK) == [ALARM] * 17 + [OK]


def test_a_fleet_without_nodes_is_not_silent_whatever_is_reserved_for_it() -> None:
    # The reservation is full of somebody else's instances.
    nothing: Minute = {"ReservedInstances": 16, "UnusedReservedInstances": 0, "MissingNodes": 16, "PresentNodes": 0}

    assert last_state(alarm("FleetSilent"), (60, nothing)) is OK
    assert last_state(alarm("FleetBlind"), (60, nothing)) is OK
    assert last_state(alarm("CapacityMissing"), (60, nothing)) is ALARM


def test_a_fleet_that_boots_is_not_silent() -> None:
    boots: Minute = {"PresentNodes": 16}
    runs: Minute = {**boots, "AgentHeartbeat": 1}

    assert ALARM not in states(alarm("FleetSilent"), [boots] * 14 + [runs] * 30)


@pytest.mark.parametrize("purpose", ["training", "inference"])
@pytest.mark.parametrize("market", list(MarketKind))
def test_nodes_that_all_fall_silent_page_after_a_quarter_of_an_hour(market: MarketKind, purpose: str) -> None:
    # One of sixteen is enough, and they may all run beside a reservation that could not be made.
    silent: Minute = {"ReservedInstances": 0, "MissingNodes": 15, "PresentNodes": 1}
    runs: Minute = {**silent, "AgentHeartbeat": 1}
    spec = alarm("FleetSilent", market, purpose)

    assert spec.severity is Severity.PAGE
    assert last_state(spec, (30, runs), (14, silent)) is OK
    assert last_state(spec, (30, runs), (15, silent)) is ALARM


def test_one_agent_that_speaks_is_no_silence() -> None:
    assert last_state(alarm("FleetSilent"), (60, {"PresentNodes": 16, "AgentHeartbeat": 1})) is OK


def test_a_capacity_that_nobody_sees_opens_and_closes_no_silence() -> None:
    for state in (OK, ALARM):
        assert last_state(alarm("FleetSilent"), (60, NOT_ANSWERED), before=state) is state


def test_a_block_that_lets_its_nodes_go_is_not_silent() -> None:
    spec = alarm("FleetSilent", MarketKind.CAPACITY_BLOCK)
    lives: Minute = {"ReservedInstances": 8, "PresentNodes": 8, "AgentHeartbeat": 1}
    # They shut down, and the block is paid for until its end.
    gone: Minute = {"ReservedInstances": 8, "UnusedReservedInstances": 0, "PresentNodes": 0}

    assert set(states(spec, [lives] * 20 + [gone] * 40, before=OK)) == {OK}


def test_a_silence_ends_with_its_nodes() -> None:
    spec = alarm("FleetSilent", MarketKind.CAPACITY_BLOCK)

    assert last_state(spec, (15, {"PresentNodes": 8})) is ALARM
    assert last_state(spec, (15, {"PresentNodes": 8}), (4, {"PresentNodes": 0})) is OK


def test_a_batch_fleet_that_scales_to_nothing_between_jobs_is_not_silent() -> None:
    spec = alarm("FleetSilent", MarketKind.ON_DEMAND)
    works: Minute = {"PresentNodes": 16, "AgentHeartbeat": 1}

    assert set(states(spec, [works] * 30 + [{"PresentNodes": 0}] * 60, before=OK)) == {OK}
