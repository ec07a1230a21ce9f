"""Alarms about compilation: those that fail, those that must not happen, and the pipeline that prevents them."""

from typing import Literal

import pytest

from fleet.alarms import AlarmSpec, fleet_alarms, platform_alarms, precompile_alarms
from local.alarm_evaluation import State
from tests.support.alarm_minutes import Minute, last_state, states
from tests.unit.fleet.test_alarms import settings

MACHINE = "arn:aws:states:us-east-2:111122223333:stateMachine:neuron-fleet-prod-precompile"
ALARM, OK = State.ALARM, State.OK
SILENCE: Minute = {}


def alarm(key: str, purpose: Literal["training", "inference"] = "inference") -> AlarmSpec:
    every = (*fleet_alarms(settings(purpose)), *precompile_alarms("prod", MACHINE))
    (found,) = (spec for spec in every if spec.key == key)
    assert isinstance(found, AlarmSpec)
    return found


@pytest.mark.parametrize(
    ("key", "metric"), [("CompileFailing", "CompileFailures"), ("CacheMissWhileServing", "CompileCacheMisses")]
)
def test_one_is_a_ticket_that_closes_after_a_quarter_of_an_hour(key: str, metric: str) -> None:
    spec = alarm(key)

    assert states(spec, [{metric: 0}, {metric: 1}, {metric: 0}, SILENCE], before=OK) == [OK, ALARM, ALARM, ALARM]
    assert last_state(spec, (1, {metric: 1}), (14, {metric: 0}), before=OK) is ALARM
    assert last_state(spec, (1, {metric: 1}), (15, {metric: 0}), before=OK) is OK


@pytest.mark.parametrize("key", ["CompileFailing", "CacheMissWhileServing"])
def test_a_fleet_of_which_nobody_sees_the_cache_is_no_ticket(key: str) -> None:
    assert last_state(alarm(key), (60, SILENCE), before=OK) is OK


def test_a_fleet_that_trains_may_compile() -> None:
    keys = {spec.key for spec in fleet_alarms(settings("training"))}

    assert {"CompileTooLong", "CompileFailing"} <= keys
    assert "CacheMissWhileServing" not in keys


@pytest.mark.parametrize("ended", ["ExecutionsFailed", "ExecutionsTimedOut"])
def test_a_precompilation_that_ends_badly_is_a_ticket(ended: str) -> None:
    spec = alarm("PrecompileFailed")

    assert states(spec, [SILENCE, {ended: 1}, SILENCE], before=OK) == [OK, ALARM, ALARM]
    assert last_state(spec, (1, {ended: 1}), (17, SILENCE), before=OK) is OK


def test_the_pipeline_is_watched_by_its_own_machine_and_queue() -> None:
    assert MACHINE in str(alarm("PrecompileFailed").metric)
    assert "neuron-fleet-prod-precompile-dead-letters" in str(alarm("PrecompileUnhandled").metric)


def test_a_request_that_nobody_heard_stays_an_alarm_until_the_queue_is_empty() -> None:
    letters = "ApproximateNumberOfMessagesVisible"

    assert last_state(alarm("PrecompileUnhandled"), (1, {letters: 1}), (600, SILENCE), before=OK) is ALARM
    assert last_state(alarm("PrecompileUnhandled"), (1, {letters: 1}), (4, {letters: 0}), before=OK) is OK


def test_the_pipelines_alarms_are_no_others() -> None:
    others = platform_alarms("prod", has_block_engine=True, has_pools=True, forecast_percent=105)
    assert not {spec.key for spec in precompile_alarms("prod", MACHINE)} & {spec.key for spec in others}
