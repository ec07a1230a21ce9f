"""What is replayed is what is deployed: suppressors, warm-ups and mute rules as CloudWatch is told of them."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from environments.alarms import alarm_settings
from fleet.alarms import CompositeSpec, change_in_progress, fleet_alarms, platform_alarms
from local.alarm_evaluation import CompositeAlarm
from local.alarm_evaluation.composite_rules import parse_rule
from local.emulator.cloudwatch.definitions import composite_alarm, metric_alarm
from local.replay.evaluator import Evaluator, definition
from local.replay.run import OURS, SETS, replay
from local.replay.scenario import CORPUS, Scenario, load
from local.replay.store import Store
from tests.support.watching import watched

STALLED = load(CORPUS / "stall-outlasts-deploy.yaml")
BLIND = load(CORPUS / "blind-after-maintenance.yaml")


def _composite(spec: CompositeSpec) -> CompositeAlarm:
    found = definition(spec)
    assert isinstance(found, CompositeAlarm)
    return found


def pages(scenario: Scenario, **changes: Any) -> dict[str, float]:
    told = replay(scenario.model_copy(update=changes), {OURS: SETS[OURS]}).told[OURS]
    return {each.alarm: round(each.minute, 1) for each in told if each.fleet == "pretrain"}


def test_every_alarm_of_a_fleet_is_evaluated_as_it_is_deployed() -> None:
    prod = watched("prod")
    kinds = ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")
    deployed = {each["AlarmName"]: each for kind in kinds for each in prod.resources("observability", kind)}
    specs = [
        change_in_progress("prod"),
        *(spec for fleet in prod.environment.fleets for spec in fleet_alarms(alarm_settings(prod.environment, fleet))),
    ]

    assert len(specs) > 40
    for spec in specs:
        settings = deployed[spec.name]
        if isinstance(spec, CompositeSpec):
            assert spec.rule.render() == settings["AlarmRule"]
            # A rule is a function, and equal to none but itself.
            rule = parse_rule(spec.rule.render())
            assert replace(_composite(spec), rule=rule) == composite_alarm(settings, rule)
        else:
            assert definition(spec) == metric_alarm(settings)


def test_low_utilization_waits_for_the_end_of_a_change_and_ten_minutes_more() -> None:
    assert pages(STALLED, changes=()) == {"LowUtilization": 75.2}
    # The suppressor looks at six minutes, and its extension is four.
    assert pages(STALLED) == {"LowUtilization": 90.2}


def test_a_rollout_holds_it_back_as_a_deployment_does() -> None:
    rollout = STALLED.changes[0].model_copy(update={"kind": "rollout"})

    assert pages(STALLED, changes=(rollout,)) == {"LowUtilization": 90.2}


def test_what_is_muted_and_lasts_is_told_at_the_end_of_the_window() -> None:
    assert pages(BLIND, maintenance=()) == {"FleetBlind": 67.2, "NodeBlind": 67.2}
    assert pages(BLIND) == {"FleetBlind": 90.2, "NodeBlind": 90.2}


def test_a_window_of_another_fleet_mutes_nothing_here() -> None:
    other = BLIND.maintenance[0].model_copy(update={"fleets": ("tune",)})

    assert pages(BLIND, maintenance=(other,)) == {"FleetBlind": 67.2, "NodeBlind": 67.2}


def test_an_alarm_that_fires_on_silence_warms_up_for_half_an_hour() -> None:
    silent = [
        alarm for alarm in platform_alarms("prod", has_block_engine=False, has_pools=False) if alarm.warm_up_minutes
    ]
    evaluator = Evaluator(silent, Store(), 0)

    told = {change.spec.name: change.at for minute in range(60) for change in evaluator.advance(minute * 60)}

    assert silent
    assert told.keys() == {alarm.name for alarm in silent}
    assert {at // 60 for at in told.values()} == {30}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("changes", [{"kind": "deployment", "at": 9, "until": 9}], "changes: until is after at, 9, and not 9"),
        ("maintenance", [{"at": 9, "until": 3}], "maintenance: until is after at, 9, and not 3"),
        ("maintenance", [{"at": 1, "until": 3, "fleets": ["x"]}], "maintenance: no fleet is called x"),
    ],
)
def test_a_change_or_window_that_cannot_be_is_refused(field: str, value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Scenario.model_validate({**STALLED.model_dump(mode="json"), field: value})
