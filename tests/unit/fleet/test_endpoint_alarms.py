"""When an endpoint has nobody who answers: with a stable side only, and with a candidate beside it."""

import pytest

from fleet.alarms import AlarmSettings, AlarmSpec, MathRef, endpoint_alarms
from fleet.fleet_spec import MarketKind
from local.alarm_evaluation import State
from tests.support.alarm_minutes import Minute, last_state
from tests.support.scaled_endpoint import NAMES

HEALTHY: Minute = {"HealthyHostCount": 1.0, "asked": 100.0, "answered": 100.0}


def no_healthy_targets() -> AlarmSpec:
    settings = AlarmSettings(
        environment="prod", fleet="chat", purpose="inference", market=MarketKind.ON_DEMAND, nodes=1
    )
    found = next(spec for spec in endpoint_alarms(settings, NAMES) if spec.key == "NoHealthyTargets")
    assert isinstance(found, AlarmSpec)
    return found


@pytest.mark.parametrize(
    ("minute", "state"),
    [
        (HEALTHY, State.OK),
        # Nobody asks, and somebody would answer.
        ({"HealthyHostCount": 1.0}, State.OK),
        # A load balancer sends requests to unhealthy targets where it has no others.
        ({"HealthyHostCount": 0.0, "asked": 100.0, "answered": 100.0}, State.ALARM),
        ({"HealthyHostCount": 0.0}, State.ALARM),
        # No target is registered, or there is no load balancer.
        ({"HTTPCode_ELB_503_Count": 100.0}, State.ALARM),
        ({}, State.ALARM),
        # The candidate answers everything, with a stable side that is being replaced or starts.
        ({"answered": 100.0}, State.OK),
        ({"HealthyHostCount": 0.0, "answered": 100.0}, State.OK),
        # The candidate answers its share, and the stable side is down.
        ({"answered": 20.0, "HTTPCode_ELB_503_Count": 1.0}, State.ALARM),
        ({"HealthyHostCount": 0.0, "asked": 1.0, "answered": 21.0}, State.ALARM),
        # Too few answers to say that they are all.
        ({"HealthyHostCount": 0.0, "answered": 19.0}, State.ALARM),
    ],
)
def test_nobody_answers_where_neither_side_does(minute: Minute, state: State) -> None:
    # Five minutes: two more than are evaluated are looked at.
    assert last_state(no_healthy_targets(), (10, HEALTHY), (5, minute)) is state


def test_an_endpoint_that_was_never_seen_has_no_datapoint_that_would_end_its_warm_up() -> None:
    alarm = no_healthy_targets()

    assert isinstance(alarm.metric, MathRef)
    assert alarm.metric.expression.endswith("1, healthy)")
    assert alarm.warm_up_minutes == 30
