"""Alarms as data: when each fires, why, and what a person should do first.

One set per fleet, whatever its number of nodes, and one for the platform's own machinery. The runbook of an alarm is
``docs/runbooks/<key>.md``.
"""

from collections.abc import Sequence

from fleet.alarms import health, utilization
from fleet.alarms.adjustments import AS_THEY_ARE, Adjustment, Adjustments
from fleet.alarms.burning import crash_loop, without_job_alarms
from fleet.alarms.capacity import capacity_alarms
from fleet.alarms.changes import change_in_progress
from fleet.alarms.compilation import compilation_alarms, precompile_alarms
from fleet.alarms.contributors import contributor_alarms
from fleet.alarms.endpoint import endpoint_alarms, hosted_alarms
from fleet.alarms.idle import idle_alarms
from fleet.alarms.metric_refs import AlarmSpecError, MathRef, MetricRef
from fleet.alarms.operations import metrics_budget, platform_alarms
from fleet.alarms.settings import AlarmSettings, Thresholds
from fleet.alarms.specs import (
    AlarmSpec,
    AllOf,
    Area,
    Comparison,
    CompositeSpec,
    ContributorSpec,
    InAlarm,
    Not,
    Severity,
    TreatMissingData,
    alarms_in,
    drawn_on,
)

__all__ = [
    "AS_THEY_ARE",
    "Adjustment",
    "Adjustments",
    "AlarmSettings",
    "AlarmSpec",
    "AlarmSpecError",
    "AllOf",
    "AnySpec",
    "Area",
    "Comparison",
    "CompositeSpec",
    "ContributorSpec",
    "InAlarm",
    "MathRef",
    "MetricRef",
    "Not",
    "Severity",
    "Spec",
    "Thresholds",
    "TreatMissingData",
    "alarms_in",
    "change_in_progress",
    "contributor_alarms",
    "drawn_on",
    "endpoint_alarms",
    "fleet_alarms",
    "followed_alarms",
    "hosted_alarms",
    "metrics_budget",
    "platform_alarms",
    "precompile_alarms",
]

Spec = AlarmSpec | CompositeSpec
AnySpec = Spec | ContributorSpec


def fleet_alarms(settings: AlarmSettings) -> tuple[Spec, ...]:
    """Every alarm of the fleet, children before the composite that reads them."""
    idle, *idle_below_floor = idle_alarms(settings)
    fault = health.hardware_fault(settings)
    below, waste = utilization.low_utilization_parts(settings)
    alarms: tuple[Spec, ...] = (
        fault,
        health.fleet_blind(settings),
        idle,
        *idle_below_floor,
        below,
        waste,
        utilization.low_utilization(settings, below=below, waste=waste, fault=fault, idle=idle),
        *health.node_alarms(settings),
        *compilation_alarms(settings),
        health.spool_growing(settings),
        *([health.efa_degraded(settings)] if settings.has_efa else []),
        *capacity_alarms(settings),
        health.fleet_silent(settings),
    )
    if settings.purpose == "inference":
        # An endpoint without requests completes nothing, and its cores differ with their traffic: neither is a fault.
        return alarms
    return (
        *alarms,
        *without_job_alarms(settings),
        crash_loop(settings),
        utilization.job_hang(settings),
        utilization.non_finite_loss(settings),
        utilization.straggler(settings),
    )


def followed_alarms(
    settings: AlarmSettings, classic: Sequence[Spec], adjustments: Adjustments = AS_THEY_ARE
) -> tuple[AnySpec, ...]:
    """``classic``, which is adjusted already, with those that follow jobs and nodes in place of the ones of their keys.

    A part that tells nobody goes with the composite alarm that it was made for.
    """
    every = contributor_alarms(settings)
    followed = adjustments.applied_to_followed(every, fleet_alarms(settings))
    replaced = {spec.key for spec in every}
    left = [spec for spec in classic if spec.key not in replaced]
    read = {part.key for spec in left if isinstance(spec, CompositeSpec) for part in alarms_in(spec.rule)}
    parts = {part.key for spec in classic if isinstance(spec, CompositeSpec) for part in alarms_in(spec.rule)}
    return (*(spec for spec in left if spec.notifies or spec.key not in parts or spec.key in read), *followed)
