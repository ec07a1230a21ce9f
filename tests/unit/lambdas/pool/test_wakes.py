"""Which pools an event is about, and what in it is a fault that a node is replaced for."""

import base64
import gzip
import json
from datetime import timedelta
from typing import Any

import pytest

from fleet.pool.observed import Fault
from lambdas.pool.wakes import wake
from tests.support.pool_world import NOW, PLACE

OTHER = "2026-11-21T09:59:00Z"


def line(**changes: Any) -> dict[str, Any]:
    made = {
        "environment": "staging", "fleet": "trn1-spot", "node": "i-1", "minute": OTHER, "state": "FAULT",
        "state_reason": "hbm-uncorrectable", "hardware_errors": [{"kind": "hbm-uncorrectable", "action": "replace"}],
    }  # fmt: skip
    return {**made, **changes}


def logged(*lines: dict[str, Any]) -> dict[str, Any]:
    content = {"logEvents": [{"message": json.dumps(each)} for each in lines]}
    return {"awslogs": {"data": base64.b64encode(gzip.compress(json.dumps(content).encode())).decode()}}


def told(*lines: dict[str, Any]) -> tuple[Fault, ...]:
    return wake(logged(*lines), [PLACE], NOW).faults.get("trn1-spot", ())


def test_a_fault_is_told_with_its_node_and_reason_and_the_pool_is_looked_at() -> None:
    asked = wake(logged(line()), [PLACE], NOW)
    assert asked.places == (PLACE,)
    assert asked.faults == {"trn1-spot": (Fault("i-1", "hbm-uncorrectable", NOW - timedelta(minutes=1)),)}


def test_a_gate_that_failed_says_what_failed() -> None:
    problem = "the health gate holds this node back: 15 of 16 Neuron devices"
    assert told(line(problems=["another", problem]))[0].reason == problem


def test_a_fault_stands_in_the_minutes_after_its_error() -> None:
    assert len(told(line(hardware_errors=[]))) == 1
    assert len(told(line(hardware_errors=None))) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "RUNNING"},
        {"hardware_errors": [{"action": "look-at-peers"}]},
        {"hardware_errors": [{"action": "none"}]},
        {"fleet": "inf2-chat"},
        {"environment": "prod"},
    ],
)
def test_what_is_no_reason_for_a_new_node_of_this_pool_is_passed_over(changes: dict[str, Any]) -> None:
    assert wake(logged(line(**changes)), [PLACE], NOW).faults == {}


def test_what_cloudwatch_logs_asks_for_itself_is_no_event() -> None:
    content = {"messageType": "CONTROL_MESSAGE", "logEvents": [{"message": "CWL CONTROL MESSAGE: Checking health"}]}
    data = base64.b64encode(gzip.compress(json.dumps(content).encode())).decode()
    assert wake({"awslogs": {"data": data}}, [PLACE], NOW).places == ()


def test_a_minute_that_is_sent_late_is_as_old_as_it_says_and_none_is_of_the_future() -> None:
    assert told(line(minute="2026-11-21T07:00:00Z"))[0].at == NOW - timedelta(hours=3)
    assert told(line(minute="2026-11-21T11:00:00Z"))[0].at == NOW


def test_events_of_aws_are_about_the_pool_that_they_name_and_the_clock_about_all() -> None:
    arn = "arn:aws:ecs:us-east-2:111122224444:cluster/"
    assert wake({"source": "aws.events", "detail": {}}, [PLACE], NOW).places == (PLACE,)
    for name, places in ((PLACE.cluster, (PLACE,)), ("another-" + PLACE.cluster, ())):
        assert wake({"detail": {"clusterArn": arn + name}}, [PLACE], NOW).places == places
    assert wake({"detail": {"AutoScalingGroupName": "group"}}, [PLACE], NOW).places == (PLACE,)
    assert wake({"detail": {"AutoScalingGroupName": "other"}}, [PLACE], NOW).places == ()
