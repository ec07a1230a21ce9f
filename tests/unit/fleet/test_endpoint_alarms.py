"""When an endpoint has nobody who answers: with a stable side only, and with a candidate beside it.

The alarms of an endpoint that scales: full with all its nodes, and silent while it is meant to be asleep.
"""

from typing import Any

import pytest

from fleet.alarms import AlarmSettings, AlarmSpec, AllOf, CompositeSpec, InAlarm, MathRef, Not, endpoint_alarms
from fleet.fleet_spec import MarketKind
from fleet.serving.scaling import Targets
from local.alarm_evaluation import State
from tests.support.alarm_minutes import Minute, last_state
from tests.support.scaled_endpoint import NAMES, scaling

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
    # Six minutes: a range that is longer than what is evaluated is looked at, and four of seven must breach.
    assert last_state(no_healthy_targets(), (10, HEALTHY), (6, minute)) is state


def test_an_endpoint_that_was_never_seen_has_no_datapoint_that_would_end_its_warm_up() -> None:
    alarm = no_healthy_targets()

    assert isinstance(alarm.metric, MathRef)
    assert alarm.metric.expression.endswith("1, healthy)")
    assert alarm.warm_up_minutes == 30


FULL: Minute = {"RequestsInFlightPerCore": 6.0, "NeuronCoreUtilization": 40.0, "GroupDesiredCapacity": 4.0}
ZERO: dict[str, Any] = {"least": 0, "zero_after_minutes": 60}


def alarms(**changes: Any) -> dict[str, AlarmSpec | CompositeSpec]:
    settings = AlarmSettings(
        environment="prod", fleet="chat", purpose="inference", market=MarketKind.ON_DEMAND, nodes=4,
        scaling=scaling(**changes),
    )  # fmt: skip
    return {spec.key: spec for spec in endpoint_alarms(settings, NAMES)}


def metric_alarm(key: str, **changes: Any) -> AlarmSpec:
    found = alarms(**changes)[key]
    assert isinstance(found, AlarmSpec)
    return found


@pytest.mark.parametrize(
    ("minute", "state"),
    [
        (FULL, State.ALARM),
        # The cores are the bottleneck, or the queue is.
        ({**FULL, "RequestsInFlightPerCore": 1.0, "NeuronCoreUtilization": 90.0}, State.ALARM),
        ({**FULL, "RequestsInFlightPerCore": 1.0, "QueueSeconds": 2.0}, State.ALARM),
        ({**FULL, "RequestsInFlightPerCore": 1.0, "QueueSeconds": 0.1}, State.OK),
        # A node is on its way, or may be asked for.
        ({**FULL, "GroupDesiredCapacity": 3.0}, State.OK),
        # Agents are silent: that is another alarm's.
        ({"GroupDesiredCapacity": 4.0}, State.OK),
    ],
)
def test_saturated_is_above_a_target_with_every_node_asked_for(minute: Minute, state: State) -> None:
    assert last_state(metric_alarm("EndpointSaturated"), (15, minute)) is state


def test_a_rush_of_ten_minutes_is_none() -> None:
    assert last_state(metric_alarm("EndpointSaturated"), (10, {**FULL, "QueueSeconds": 0.1}), (10, {})) is State.OK


def test_without_a_queue_target_its_time_is_not_looked_at() -> None:
    alarm = metric_alarm("EndpointSaturated", targets=Targets(requests_in_flight_per_core=4))

    assert last_state(alarm, (15, {**FULL, "NeuronCoreUtilization": 100.0})) is State.ALARM
    assert "waited" not in str(alarm.metric)


def test_an_endpoint_that_may_sleep_says_on_a_page_what_others_say() -> None:
    sleeping = alarms(**ZERO)

    for key, spec in alarms().items():
        assert sleeping[key].page("https://runbooks.test") == spec.page("https://runbooks.test")


def test_an_endpoint_that_always_has_a_node_pages_as_a_fixed_one() -> None:
    assert alarms().keys() == {"EndpointErrors", "EndpointLatencyP99", "NoHealthyTargets", "EndpointSaturated"}
    assert all(spec.notifies for spec in alarms().values())


@pytest.mark.parametrize("key", ["EndpointErrors", "NoHealthyTargets"])
def test_what_is_asleep_pages_nobody_and_what_does_not_wake_up_does(key: str) -> None:
    found = alarms(**ZERO)
    page, seen, asleep = found[key], found[f"{key}Seen"], found["AsleepLately"]

    assert isinstance(page, CompositeSpec)
    assert isinstance(seen, AlarmSpec)
    assert isinstance(asleep, AlarmSpec)
    assert page.rule == AllOf((InAlarm(seen), Not(InAlarm(asleep))))
    assert (page.notifies, seen.notifies, asleep.notifies) == (True, False, False)
    # Forty minutes are what a node takes to start; then whoever waits for it has waited too long.
    asked: Minute = {"GroupDesiredCapacity": 1.0}
    asleep_then: Minute = {"GroupDesiredCapacity": 0.0}
    assert last_state(asleep, (90, asleep_then)) is State.ALARM
    assert last_state(asleep, (90, asleep_then), (39, asked)) is State.ALARM
    assert last_state(asleep, (90, asleep_then), (40, asked)) is State.OK
    assert last_state(asleep, (90, asked)) is State.OK
    # What the group has is not known: nothing is kept quiet.
    assert last_state(asleep, (90, {})) is State.OK
