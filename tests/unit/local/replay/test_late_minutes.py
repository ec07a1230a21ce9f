"""Every alarm under every delay: its incident is told once, at most the delay later; the nearest healthy case never is.

The alarms are those that are deployed, and the data come as ``local.replay.delivery`` says; the whole corpus under the
same deliveries is ``fleet replay --delays`` (docs/replay.md has the figures).
"""

from typing import Final

import pytest

from fleet.alarms import AlarmSettings, AlarmSpec, MetricRef, Spec, TreatMissingData, endpoint_alarms, hosted_alarms
from fleet.fleet_spec import MarketKind
from fleet.hosting.variants import VariantNames
from fleet.load_balancer import EndpointNames
from fleet.metrics import AGENT_CATALOGUE
from fleet.serving.scaling import Scaling, Targets
from local.replay.delivery import AT_ONCE, Delivery, Late
from tests.support.alarm_pages import every_alarm
from tests.support.late_minutes import Case, of_one_metric, parts, told

DELIVERIES: Final = (
    *(Delivery.after(minutes) for minutes in (1, 2, 5)),
    Delivery(name="affected nodes late", late=Late.AFFECTED),
    Delivery(name="half of the nodes late", late=Late.HALF),
    Delivery(name="wrong clocks", skew_minutes=3),
)
WELL: Final = {
    **dict.fromkeys(("requests", "answered", "asked"), 1000.0),
    "healthy": 2.0,
    "GroupDesiredCapacity": 4.0,
}
RESTING: Final = {"compiling": 0.0, "starting": 0.0, "present": 3.0}
PAID: Final = {"present": 3.0}
CASES: Final = {
    "HardwareFault": Case({"faulty": 0, "errors": 0}, {"faulty": 1, "errors": 1}),
    "FleetSilent": Case({"heartbeat": 1, "nodes": 3}, {"nodes": 3}, ill_nodes=3),
    "AgentSilent": Case({"silent": 0, "nodes": 3}, {"silent": 1, "nodes": 3}),
    "EfaDegraded": Case({"again": 1000, "sent": 0}, {"again": 1001, "sent": 0}),
    "Straggler": Case({"apart": 20, "busy": 80, "useful": 40}, {"apart": 21, "busy": 80, "useful": 40}),
    "CapacityBlockEnding": Case({"reserved": 1, "left": 1440}, {"reserved": 1, "left": 1439}),
    "CapacityBlockEndingSoon": Case({"reserved": 1, "left": 90}, {"reserved": 1, "left": 89}),
    "EndpointErrors": Case({**WELL, "failed": 50, "target": 50}, {**WELL, "failed": 51, "target": 51}),
    "EndpointLatencyP99": Case({**WELL, "latency": 1.9}, {**WELL, "latency": 2.1}),
    "NoHealthyTargets": Case(WELL, {**WELL, "healthy": 0}),
    "EndpointLatencyP99 of SageMaker": Case({**WELL, "latency": 1.9e6}, {**WELL, "latency": 2.1e6}),
    "NoHealthyTargets of SageMaker": Case({"CPUUtilization": 0.0}, {}),
    "EndpointSaturated": Case({**WELL, "busy": 50}, {**WELL, "busy": 71}, ill_nodes=3),
    "PrecompileFailed": Case({}, {"failed": 1}),
    "JobHang": Case({"hung": 0, "present": 3, "price": 90}, {"hung": 1, "present": 3, "price": 90}),
    "IdleAllocated": Case({**RESTING, "idle": 0, "price": 90}, {**RESTING, "idle": 1, "price": 90}),
    "IdleBelowFloor": Case({**RESTING, "idle": 0, "price": 0.1}, {**RESTING, "idle": 1, "price": 0.1}),
    "NodesWithoutJob": Case({**PAID, "nodes": 0, "price": 90}, {**PAID, "nodes": 1, "price": 90}),
    "CrashLoop": Case({**PAID, "nodes": 0, "price": 90}, {**PAID, "nodes": 1, "price": 90}),
    "WithoutJobBelowFloor": Case({**PAID, "nodes": 0, "price": 0.1}, {**PAID, "nodes": 1, "price": 0.1}),
    "LowUtilization": Case(
        {"LowestJobTensorEngineUtilization": 20, "LowestJobCoreUtilization": 60, "WastedUsdPerHour": 5.01},
        {"LowestJobTensorEngineUtilization": 19, "LowestJobCoreUtilization": 60, "WastedUsdPerHour": 5.01},
    ),
}
SLEEPER: Final = AlarmSettings(
    environment="prod",
    fleet="chat",
    purpose="inference",
    market=MarketKind.ON_DEMAND,
    nodes=4,
    scaling=Scaling(least=0, most=4, targets=Targets(core_utilization_percent=70), zero_after_minutes=30),
)
SLEEPING: Final = endpoint_alarms(SLEEPER, EndpointNames("app/chat/1", "targetgroup/chat/1"))
HOSTED: Final = hosted_alarms(SLEEPER, VariantNames("prod-chat"))
ALARMS: Final = {
    **{f"{spec.key} of SageMaker": spec for spec in HOSTED},
    **{spec.key if isinstance(spec, AlarmSpec) else f"{spec.key} that may sleep": spec for spec in SLEEPING},
    **{spec.key: spec for spec in every_alarm()},
}


def needed(spec: Spec) -> int:
    """How many breaching minutes make it tell: of a composite, those of the part that needs the most."""
    return max(each.datapoints[0] for each in metric_alarms(spec))


def sent_by_nodes(spec: Spec) -> bool:
    """Whether what it reads has many senders: what AWS publishes has one, which is late as a whole."""
    return any(name in AGENT_CATALOGUE for each in metric_alarms(spec) for name in each.metric.names)


def metric_alarms(spec: Spec) -> tuple[AlarmSpec, ...]:
    return (spec,) if isinstance(spec, AlarmSpec) else parts(spec)


def nearest_healthy(spec: Spec, delivery: Delivery) -> int:
    """Breaching minutes that are one too few. Of an alarm on silence the delay counts as silence: nobody can tell."""
    on_silence = any(each.silence is TreatMissingData.BREACHING for each in metric_alarms(spec))
    return max(0, needed(spec) - 1 - (delivery.allowed_minutes if on_silence else 0))


def case_of(name: str, spec: Spec) -> Case:
    known = CASES.get(name) or CASES.get(spec.key)
    if known is not None:
        return known
    assert isinstance(spec, AlarmSpec)
    assert isinstance(spec.metric, MetricRef), f"{spec.key} reads an expression: write a case for it"
    return of_one_metric(spec)


@pytest.mark.parametrize("name", sorted(name for name, spec in ALARMS.items() if spec.notifies))
def test_an_incident_is_told_once_under_every_delay_and_the_nearest_healthy_case_never(name: str) -> None:
    spec = ALARMS[name]
    case = case_of(name, spec)
    (at_once,) = told(spec, parts(spec), case, None, AT_ONCE)

    for delivery in DELIVERIES if sent_by_nodes(spec) else DELIVERIES[:3]:
        found = told(spec, parts(spec), case, None, delivery)
        healthy = told(spec, parts(spec), case, nearest_healthy(spec, delivery), delivery)

        assert (len(found), healthy) == (1, []), delivery.name
        assert at_once - delivery.skew_minutes <= found[0] <= at_once + delivery.allowed_minutes, delivery.name
