"""The alarms about the platform's own machinery."""

from collections.abc import Sequence

import pytest

from fleet import naming, operations_metrics
from fleet.alarms import AlarmSpec, AlarmSpecError, MetricRef, Severity, fleet_alarms, platform_alarms
from local.alarm_evaluation import State
from tests.support.alarm_minutes import Minute, last_state, states
from tests.unit.fleet.test_capacity_alarms import settings

ALARM, OK = State.ALARM, State.OK
SILENCE: Minute = {}
LEDGER = {"LedgerProblems", "LedgerSilent", "LedgerUnhandled"}
WATCH = {"CapacityWatchProblems", "CapacityWatchSilent", "CapacityWatchUnhandled"}
BUDGETS = {"BudgetForecast", "BudgetsUnhandled"}
PRICES = {"PriceRefreshProblems", "PriceRefreshUnhandled"}
ROLLOUT = {"RolloutUnhandled", "RolloutNotDone"}
ENGINE = {"CapacityBlockEngineProblems", "CapacityBlockEngineSilent", "CapacityBlockEngineUnhandled"}

POOLS = {"PoolControllerProblems", "PoolControllerSilent", "PoolControllerUnhandled"}


def platform(
    *,
    has_block_engine: bool = True,
    has_pools: bool = True,
    has_endpoints: bool = True,
    forecast_percent: float | None = 105,
) -> Sequence[AlarmSpec]:
    return platform_alarms(
        "prod",
        has_block_engine=has_block_engine,
        has_pools=has_pools,
        has_endpoints=has_endpoints,
        forecast_percent=forecast_percent,
    )


def alarm(key: str) -> AlarmSpec:
    (found,) = (spec for spec in platform() if spec.key == key)
    return found


def test_the_engine_is_watched_where_there_is_one() -> None:
    always = {"PagerDelayed", "PagerUndelivered", "BudgetsUnhandled"} | WATCH | PRICES | LEDGER
    bare = platform(has_block_engine=False, has_pools=False, has_endpoints=False, forecast_percent=None)
    assert {spec.key for spec in bare} == always
    assert {spec.key for spec in platform()} == always | ENGINE | POOLS | ROLLOUT | BUDGETS


def test_their_subject_is_the_platform_and_their_keys_are_no_fleets() -> None:
    assert {spec.subject for spec in platform()} == {"platform"}
    assert not {spec.key for spec in platform()} & {spec.key for spec in fleet_alarms(settings())}


def test_five_looks_in_a_row_with_a_problem_are_a_ticket() -> None:
    spec = alarm("CapacityBlockEngineProblems")

    assert states(spec, [{"CapacityBlockProblems": n} for n in (0, 1, 2, 1, 1, 3)], before=OK) == [OK] * 5 + [ALARM]
    assert last_state(spec, (4, {"CapacityBlockProblems": 1}), (1, {"CapacityBlockProblems": 0})) is OK


def test_a_function_that_says_nothing_for_ten_minutes_is_a_ticket() -> None:
    spec = alarm("CapacityWatchSilent")
    looks: Minute = {"CapacityWatchProblems": 0}

    # CloudWatch keeps two more minutes in view where data is missing.
    assert last_state(spec, (30, looks), (11, SILENCE)) is OK
    assert last_state(spec, (30, looks), (12, SILENCE)) is ALARM
    assert last_state(spec, (30, SILENCE), (1, looks)) is OK


def test_a_count_of_problems_is_no_silence() -> None:
    assert last_state(alarm("CapacityWatchSilent"), (30, {"CapacityWatchProblems": 4})) is OK


def test_what_a_refresh_said_lasts_until_the_next_one_speaks() -> None:
    spec = alarm("PriceRefreshProblems")

    assert last_state(spec, (1, {"PriceProblems": 2}), (24 * 60, SILENCE), before=OK) is ALARM
    assert last_state(spec, (1, {"PriceProblems": 2}), (60, SILENCE), (1, {"PriceProblems": 0}), before=OK) is OK


def test_a_letter_that_lies_in_the_queue_stays_an_alarm_when_the_queue_is_reported_no_more() -> None:
    spec = alarm("CapacityBlockEngineUnhandled")
    letter: Minute = {"ApproximateNumberOfMessagesVisible": 1}
    empty: Minute = {"ApproximateNumberOfMessagesVisible": 0}

    assert last_state(spec, (1, letter), (600, SILENCE), before=OK) is ALARM
    assert last_state(spec, (1, letter), (600, SILENCE), (1, empty), before=OK) is OK


def test_undelivered_pages_page_and_go_past_the_pager_too() -> None:
    special = [spec.key for spec in platform() if spec.bypass_pager]

    assert special == ["PagerDelayed", "PagerUndelivered"]
    assert alarm("PagerUndelivered").severity is Severity.PAGE


@pytest.mark.parametrize(
    ("key", "function"),
    [
        ("PagerUndelivered", "pager"),
        ("CapacityBlockEngineUnhandled", "capacity-blocks"),
        ("CapacityWatchUnhandled", "capacity-watch"),
        ("PriceRefreshUnhandled", "prices"),
    ],
)
def test_each_queue_is_watched_by_its_own_name(key: str, function: str) -> None:
    metric = alarm(key).metric

    assert isinstance(metric, MetricRef)
    assert metric.dimensions == (("QueueName", f"neuron-fleet-prod-{function}-dead-letters"),)
    assert naming.dead_letter_queue("prod", function) == dict(metric.dimensions)["QueueName"]


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [("PagesSend", (("Environment", "prod"),)), ("PagesSent", ()), ("PagesSent", (("Fleet", "trn1"),))],
)
def test_an_operations_metric_that_no_function_publishes_is_refused(
    name: str, dimensions: tuple[tuple[str, str], ...]
) -> None:
    with pytest.raises(AlarmSpecError, match=f"no function publishes {name}"):
        MetricRef(operations_metrics.NAMESPACE, name, "Maximum", dimensions)


def test_the_roll_up_is_silent_after_four_hours_and_not_between_two_runs() -> None:
    spec = alarm("LedgerSilent")
    assert last_state(spec, (1, {"LedgerProblems": 0}), (239, {})) is OK
    assert last_state(spec, (1, {"LedgerProblems": 0}), (245, {})) is ALARM


def test_three_hours_in_a_row_with_something_that_is_not_booked_are_a_ticket() -> None:
    spec = alarm("LedgerProblems")
    assert last_state(spec, *[(1, {"LedgerProblems": 1}), (59, {})] * 2) is OK
    assert last_state(spec, *[(1, {"LedgerProblems": 1}), (59, {})] * 2, (1, {"LedgerProblems": 1})) is ALARM


def test_a_rollout_that_does_not_end_well_is_a_ticket_and_one_that_nobody_drives_a_page() -> None:
    not_done = alarm("RolloutNotDone")

    assert last_state(not_done, (1, {"RolloutsNotDone": 0})) is OK
    assert last_state(not_done, (1, {"RolloutsNotDone": 1})) is ALARM
    assert alarm("RolloutUnhandled").severity is Severity.PAGE


def test_a_forecast_above_the_threshold_is_a_ticket_until_the_next_one_is_not() -> None:
    spec = alarm("BudgetForecast")
    hour: list[Minute] = [SILENCE] * 59

    assert last_state(spec, (1, {"BudgetForecastPercent": 105})) is OK
    assert states(spec, [{"BudgetForecastPercent": 106}, *hour], before=OK) == [ALARM] * 60
    assert (
        last_state(spec, (1, {"BudgetForecastPercent": 106}), (59, SILENCE), (1, {"BudgetForecastPercent": 99})) is OK
    )


def test_without_budgets_nothing_is_forecast() -> None:
    keys = {spec.key for spec in platform(forecast_percent=None)}
    assert BUDGETS & keys == {"BudgetsUnhandled"}
