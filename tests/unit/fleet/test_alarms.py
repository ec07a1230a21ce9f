"""The alarm set as data: what each fleet gets, and what a spec refuses."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from fleet import metrics
from fleet.alarms import (
    AlarmSettings,
    AlarmSpec,
    AlarmSpecError,
    AllOf,
    Area,
    Comparison,
    CompositeSpec,
    InAlarm,
    MathRef,
    MetricRef,
    Not,
    Severity,
    Spec,
    Thresholds,
    TreatMissingData,
    alarms_in,
    change_in_progress,
    drawn_on,
    endpoint_alarms,
    fleet_alarms,
    metrics_budget,
)
from fleet.fleet_spec import MarketKind
from fleet.load_balancer import EndpointNames
from local.alarm_evaluation import State
from tests.support.alarm_minutes import last_state
from tests.support.alarm_pages import every_alarm

DOCUMENTED = (Path(__file__).parents[3] / "docs/alarms.md").read_text(encoding="utf-8")
FLEET = (("Environment", "prod"), ("Fleet", "trn1-pretrain"))
NAMES = EndpointNames(load_balancer="app/chat/50dc6c", target_group="targetgroup/chat/943f01")


def settings(purpose: Literal["training", "inference"] = "training", **changes: Any) -> AlarmSettings:
    values: dict[str, Any] = {"nodes": 16, "market": MarketKind.RESERVATION} | changes
    return AlarmSettings(environment="prod", fleet="trn1-pretrain", purpose=purpose, **values)


def by_key(alarms: tuple[Spec, ...]) -> Mapping[str, Spec]:
    return {alarm.key: alarm for alarm in alarms}


def metric_alarm(key: str, **changes: Any) -> AlarmSpec:
    alarm = by_key(fleet_alarms(settings(**changes)))[key]
    assert isinstance(alarm, AlarmSpec)
    return alarm


def series(alarm: AlarmSpec) -> dict[str, str]:
    """Metric name → statistic of everything that the alarm looks at."""
    refs = (alarm.metric,) if isinstance(alarm.metric, MetricRef) else tuple(ref for _, ref in alarm.metric.queries)
    return {ref.name: ref.statistic for ref in refs}


def known(said: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in said.items() if value is not None}


def any_alarm(**changes: Any) -> AlarmSpec:
    values: dict[str, Any] = {
        "environment": "prod",
        "subject": "trn1-pretrain",
        "area": Area.HEALTH,
        "key": "Anything",
        "title": "Anything",
        "severity": Severity.TICKET,
        "summary": "Something is wrong.",
        "action": "Do something.",
        "metric": MetricRef("NeuronFleet", "NodesBlind", "Maximum", FLEET),
        "comparison": Comparison.AT_LEAST,
        "threshold": 1,
        "datapoints": (1, 1),
        "silence": TreatMissingData.NOT_BREACHING,
    } | changes
    return AlarmSpec(**values)


@pytest.mark.parametrize(("purpose", "flops"), [("training", True), ("training", False), ("inference", True)])
def test_a_threshold_is_drawn_on_the_graph_of_what_the_alarm_reads(
    purpose: Literal["training", "inference"], flops: bool
) -> None:
    of = settings(purpose, reports_flops=flops)
    specs = (*fleet_alarms(of), *endpoint_alarms(of, NAMES))
    drawn = {metric: [spec.key for spec in drawn_on(metric, specs)] for metric in of_interest(specs)}

    assert drawn["HbmUsedPercent"] == ["HbmPressure"]
    assert drawn["HealthyHostCount"] == ["NoHealthyTargets"]
    assert drawn["TargetResponseTime"] == ["EndpointLatencyP99"]
    low = drawn["LowestJobTensorEngineUtilization" if flops else "LowestJobCoreUtilization"]
    assert "UtilizationBelowThreshold" in low
    assert drawn["SpoolBytes"] == []


def of_interest(specs: tuple[Spec, ...]) -> set[str]:
    return {name for spec in specs if isinstance(spec, AlarmSpec) for name in spec.metric.names}


def test_a_threshold_cannot_be_drawn_where_the_alarm_does_not_look() -> None:
    with pytest.raises(AlarmSpecError, match="it does not read SpoolBytes"):
        any_alarm(drawn_on="SpoolBytes")


def test_the_alarms_of_capacity_are_those_with_evidence_of_the_watch() -> None:
    assert all((spec.area is Area.CAPACITY) == spec.evidence.is_about_capacity for spec in every_alarm())


def test_a_training_fleet_has_the_contracted_alarms() -> None:
    keys = set(by_key(fleet_alarms(settings())))

    assert keys >= {
        "IdleAllocated",
        "UtilizationBelowThreshold",
        "WasteAboveThreshold",
        "LowUtilization",
        "JobHang",
        "HardwareFault",
        "FleetBlind",
        "NodeBlind",
        "AgentSilent",
        "Straggler",
        "HbmPressure",
        "CompileTooLong",
        "CompileFailing",
        "SpoolGrowing",
        "CapacityMissing",
        "PriceStale",
        "ReservationUnused",
        "FleetSilent",
        "NonFiniteLoss",
    }


def test_every_alarm_is_in_the_documentation() -> None:
    named = set(re.findall(r"[A-Z][A-Za-z0-9]+", DOCUMENTED))
    fleets = [spec.key for spec in every_alarm() if spec.notifies and spec.subject != "platform"]

    assert set(fleets) - named == set()


def test_only_a_fleet_that_has_efa_is_watched_for_it() -> None:
    assert "EfaDegraded" in by_key(fleet_alarms(settings(has_efa=True)))


def test_any_loss_that_is_no_number_pages() -> None:
    loss = metric_alarm("NonFiniteLoss")

    assert series(loss) == {"NonFiniteLoss": "Maximum"}
    assert (loss.severity, loss.threshold, loss.datapoints) == (Severity.PAGE, 1, (1, 15))


@pytest.mark.parametrize(
    ("fallback", "again", "sent", "fires"),
    [
        (1, None, 0, True),
        (0, 0, 9e9, False),
        (None, 999, 0, False),
        (None, 1001, 0, True),
        (0, 10_000, 9e9, False),
        (0, 10_001, 9e9, True),
        (0, 10_001, None, True),
    ],
)
def test_efa_is_degraded_by_any_fallback_or_by_much_that_is_sent_again(
    fallback: float | None, again: float | None, sent: float | None, fires: bool
) -> None:
    said = {"EfaFallbackToTcp": fallback, "EfaRetransmits": again, "EfaTransmitBytes": sent}

    state = last_state(metric_alarm("EfaDegraded", has_efa=True), (15, known(said)))

    assert (state is State.ALARM) is fires


@pytest.mark.parametrize(
    ("deploying", "rolling", "fires"), [(1, None, True), (None, 1, True), (0, 0, False), (3, 0, True), (0, None, False)]
)
def test_a_deployment_and_a_rollout_each_are_a_change(
    deploying: float | None, rolling: float | None, fires: bool
) -> None:
    change = change_in_progress("prod")

    state = last_state(change, (3, known({"DeploymentsInProgress": deploying, "RolloutsInProgress": rolling})))

    assert (state is State.ALARM) is fires
    assert not change.notifies


def test_a_change_of_which_nothing_is_heard_any_more_is_over() -> None:
    assert last_state(change_in_progress("prod"), (5, {"DeploymentsInProgress": 1}), (6, {})) is State.OK


def test_low_utilization_waits_for_changes_and_nothing_else_does() -> None:
    composites = [alarm for alarm in fleet_alarms(settings()) if isinstance(alarm, CompositeSpec)]

    assert [(alarm.key, alarm.suppressed_by) for alarm in composites] == [
        ("LowUtilization", change_in_progress("prod"))
    ]


@pytest.mark.parametrize(("planned", "limit"), [(1, 10), (10, 10), (500, 500)])
def test_metrics_may_be_of_as_many_jobs_as_were_planned_for_and_of_ten(planned: int, limit: int) -> None:
    alarm = metrics_budget("prod", jobs_planned=planned)

    assert (alarm.comparison, alarm.threshold, alarm.datapoints) == (Comparison.ABOVE, limit, (3, 180))


def test_an_endpoint_without_requests_is_neither_hung_nor_straggling() -> None:
    assert not {"JobHang", "Straggler"} & set(by_key(fleet_alarms(settings("inference"))))


def test_an_idle_evening_of_an_endpoint_wakes_nobody() -> None:
    pages = {a.key for a in fleet_alarms(settings("inference")) if a.notifies and a.severity is Severity.PAGE}

    assert pages == {"HardwareFault", "FleetBlind", "FleetSilent"}


def test_the_number_of_alarms_does_not_depend_on_the_number_of_nodes() -> None:
    assert len(fleet_alarms(settings(nodes=1))) == len(fleet_alarms(settings(nodes=2000)))


def test_pages_are_the_contracted_ones() -> None:
    pages = {alarm.key for alarm in fleet_alarms(settings()) if alarm.notifies and alarm.severity is Severity.PAGE}

    assert pages == {
        "IdleAllocated",
        "LowUtilization",
        "JobHang",
        "HardwareFault",
        "FleetBlind",
        "FleetSilent",
        "NonFiniteLoss",
        "CrashLoop",
    }


def test_low_utilization_watches_the_worst_job_of_the_worst_node() -> None:
    below = metric_alarm("UtilizationBelowThreshold", thresholds=Thresholds(low_utilization_percent=25))

    assert series(below) == {"LowestJobTensorEngineUtilization": "Minimum"}
    assert (below.comparison, below.threshold, below.datapoints) == (Comparison.BELOW, 25, (12, 17))


def test_without_flops_low_utilization_falls_back_to_core_utilization() -> None:
    below = metric_alarm("UtilizationBelowThreshold", reports_flops=False)

    assert series(below) == {"LowestJobCoreUtilization": "Minimum"}
    assert below.threshold == 70


def test_waste_is_held_against_the_dollars_of_one_node() -> None:
    waste = metric_alarm("WasteAboveThreshold", thresholds=Thresholds(wasted_usd_per_node_hour=6))

    assert series(waste) == {"WastedUsdPerHour": "Maximum"}
    assert (waste.comparison, waste.threshold, waste.datapoints) == (Comparison.ABOVE, 6, (12, 17))


def test_low_utilization_pages_for_percent_and_dollars_unless_another_page_says_why() -> None:
    composite = by_key(fleet_alarms(settings()))["LowUtilization"]

    assert isinstance(composite, CompositeSpec)
    assert composite.rule.render() == (
        '(ALARM("prod/trn1-pretrain/UtilizationBelowThreshold") AND ALARM("prod/trn1-pretrain/WasteAboveThreshold")'
        ' AND NOT ALARM("prod/trn1-pretrain/HardwareFault") AND NOT ALARM("prod/trn1-pretrain/IdleAllocated"))'
    )


def test_children_come_before_the_composite_that_reads_them() -> None:
    seen: set[str] = set()
    for alarm in fleet_alarms(settings()):
        if isinstance(alarm, CompositeSpec):
            assert {child.key for child in alarms_in(alarm.rule)} <= seen
        seen.add(alarm.key)


def test_blindness_is_a_share_of_nodes_that_a_doubled_batch_cannot_change() -> None:
    blind = metric_alarm("FleetBlind")

    assert series(blind) == {"NodesBlind": "Average"}
    assert (blind.comparison, blind.threshold) == (Comparison.ABOVE, 0.05)


def test_a_hang_is_what_one_node_says_of_one_of_its_jobs() -> None:
    hang = metric_alarm("JobHang")

    assert series(hang) == {"NodesHung": "Average", "PresentNodes": "Maximum", "CostUsdPerHour": "Average"}
    # The ten minutes are the node's to count, for each of its jobs; one of its minutes is enough, also when it is late.
    assert (hang.comparison, hang.threshold, hang.datapoints) == (Comparison.AT_LEAST, 5, (1, 6))


def test_a_hang_is_judged_by_the_dollars_of_all_nodes_that_hang() -> None:
    hang, below = metric_alarm("JobHang"), metric_alarm("IdleBelowFloor")
    rests = {"NodesIdle": 0.0, "NodesCompiling": 0.0, "NodesStartup": 0.0}
    small = {**rests, "NodesHung": 0.125, "PresentNodes": 8.0, "CostUsdPerHour": 1.34}

    assert last_state(hang, (60, small)) is State.OK
    assert last_state(below, (45, small)) is State.ALARM
    assert last_state(hang, (1, {**small, "NodesHung": 0.5})) is State.ALARM
    # Of a node whose price nobody knows.
    assert last_state(hang, (1, {"NodesHung": 1.0})) is State.ALARM


def test_a_lull_of_an_endpoint_is_no_matter_of_minutes() -> None:
    windows = {
        key: (metric_alarm(key).datapoints, metric_alarm(key, purpose="inference").datapoints)
        for key in ("UtilizationBelowThreshold", "WasteAboveThreshold")
    }

    assert windows == {
        "UtilizationBelowThreshold": ((12, 17), (36, 45)),
        "WasteAboveThreshold": ((12, 17), (36, 45)),
    }


def test_no_alarm_reads_a_statistic_that_a_doubled_batch_changes() -> None:
    for alarm in fleet_alarms(settings()):
        if isinstance(alarm, AlarmSpec):
            assert not {"Sum", "SampleCount"} & set(series(alarm).values()), alarm.key


def of_endpoint(**changes: Any) -> list[AlarmSpec]:
    found = endpoint_alarms(settings("inference", **changes), NAMES)
    assert all(isinstance(alarm, AlarmSpec) for alarm in found)
    return [alarm for alarm in found if isinstance(alarm, AlarmSpec)]


def test_an_endpoint_pages_for_errors_latency_and_having_no_target() -> None:
    alarms = {alarm.key: alarm for alarm in of_endpoint()}

    assert set(alarms) == {"EndpointErrors", "EndpointLatencyP99", "NoHealthyTargets"}
    assert {alarm.severity for alarm in alarms.values()} == {Severity.PAGE}
    assert alarms["NoHealthyTargets"].silence is TreatMissingData.BREACHING


def test_endpoint_errors_are_a_share_of_a_minimum_of_traffic() -> None:
    errors = of_endpoint()[0]

    assert isinstance(errors.metric, MathRef)
    assert ">= 20," in errors.metric.expression
    # Of both sides of a rollout: while one changes its version, the other answers alone.
    assert {ref.dimensions for _, ref in errors.metric.queries} == {(("LoadBalancer", "app/chat/50dc6c"),)}


def test_the_endpoint_latency_limit_comes_from_the_settings() -> None:
    alarms = of_endpoint(thresholds=Thresholds(latency_p99_seconds=0.5))

    assert alarms[1].threshold == 0.5


def test_a_description_holds_summary_action_and_runbook() -> None:
    text = any_alarm(key="NodeBlind").description("https://example.com/runbooks")

    assert text == "Something is wrong. Do something. Runbook: https://example.com/runbooks/NodeBlind.md"


def test_a_description_that_cloudwatch_would_refuse_is_refused() -> None:
    with pytest.raises(AlarmSpecError, match="limit 1024"):
        any_alarm(summary="x" * 1024).description("docs")


def test_more_breaching_than_evaluated_minutes_are_refused() -> None:
    with pytest.raises(AlarmSpecError, match="3 of 2 datapoints can never breach"):
        any_alarm(datapoints=(3, 2))


@pytest.mark.parametrize("statistic", ["Sum", "SampleCount", "IQM"])
def test_statistics_that_a_doubled_batch_changes_are_refused(statistic: str) -> None:
    with pytest.raises(AlarmSpecError, match=statistic):
        MetricRef("NeuronFleet", "NodesBlind", statistic, FLEET)


def test_a_metric_that_nobody_publishes_is_refused() -> None:
    with pytest.raises(AlarmSpecError, match="not in the metric catalogue"):
        MetricRef("NeuronFleet", "GpuUtilization", "Average", FLEET)


@pytest.mark.parametrize(
    "dimensions",
    [(("Environment", "prod"),), (("Environment", "prod"), ("Fleet", "f"), ("Node", "i-1")), FLEET[::-1]],
)
def test_dimensions_that_the_catalogue_does_not_publish_are_refused(dimensions: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(AlarmSpecError, match="is not published with dimensions"):
        MetricRef("NeuronFleet", "NodesBlind", "Maximum", dimensions)


def test_a_percentile_of_a_statistic_set_is_refused() -> None:
    with pytest.raises(AlarmSpecError, match="statistic set"):
        MetricRef("NeuronFleet", metrics.HBM_USED_PERCENT.name, "p90", FLEET)


def test_a_series_that_the_expression_does_not_use_is_refused() -> None:
    with pytest.raises(AlarmSpecError, match="unused is not used"):
        MathRef("blind", (("unused", MetricRef("NeuronFleet", "NodesBlind", "Maximum", FLEET)),))


def test_a_rule_lists_the_alarms_it_reads() -> None:
    first, second = any_alarm(key="First"), any_alarm(key="Second")

    assert alarms_in(AllOf((InAlarm(first), Not(InAlarm(second))))) == (first, second)
