"""Alarms that follow each node: is it well, can it be seen, does it compile for too long."""

from typing import Final

from fleet.alarms import health
from fleet.alarms.compilation import compilation_alarms
from fleet.alarms.contributors.expressions import QUARTER, Series
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import ContributorSpec
from fleet.fleet_spec import MarketKind
from fleet.node_state import NodeState

NODE: Final = ("fleet", "node")
_ONE_OF_NODE: Final = "max by (fleet, node)"
_SILENT_WINDOW: Final = "14m30s"


def node_alarms(settings: AlarmSettings) -> tuple[ContributorSpec, ...]:
    """Those that the fleet's nodes can make true."""
    return (
        _hardware_fault(settings),
        _fleet_blind(settings),
        _node_blind(settings),
        *([] if _nodes_come_and_go(settings) else [_agent_silent(settings)]),
        _hbm_pressure(settings),
        _spool_growing(settings),
        *([_efa_degraded(settings)] if settings.has_efa else []),
        *_compilation(settings),
    )


def _nodes_come_and_go(settings: AlarmSettings) -> bool:
    # A node that was ended is silent for good. Only the capacity watch asks EC2 which of the two it is.
    return settings.scaling is not None or settings.market is MarketKind.SPOT


def _hardware_fault(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    return ContributorSpec.in_place_of(
        health.hardware_fault(settings),
        # A blind node is in no other state: what other sources say of its hardware is in the counts.
        expression=f"{_ONE_OF_NODE} ({series.was_lately(NodeState.FAULT)}) == 1 "
        f"or {_ONE_OF_NODE} ({series.most('node_hardware_errors_per_minute')}) > 0",
        contributor=NODE,
        pending_minutes=0,
        recovery_minutes=10,
        reason="One minute of an error for which AWS documents an action is enough; a repeated report is one incident.",
    )


def _fleet_blind(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    return ContributorSpec.in_place_of(
        health.fleet_blind(settings),
        expression=f"avg by (fleet) ({series.is_now(NodeState.BLIND)}) > {health.BLIND_SHARE:g}",
        contributor=("fleet",),
        pending_minutes=health.BLIND_MINUTES,
        recovery_minutes=5,
        reason="A monitor that is restarted is silent for up to three minutes; five are a fault that has spread.",
    )


def _node_blind(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    return ContributorSpec.in_place_of(
        health.node_blind(settings),
        expression=f"{_ONE_OF_NODE} ({series.is_now(NodeState.BLIND)}) == 1",
        contributor=NODE,
        pending_minutes=health.BLIND_MINUTES,
        recovery_minutes=5,
        reason="A monitor that is restarted is silent for up to three minutes.",
    )


def _agent_silent(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    # Every node says every minute whether it is blind.
    said = 'node_state{neuron_fleet_node_state="BLIND"}'
    heard = f"max_over_time({series.named(said)}[59m30s] offset 15m)"
    lately = series.most(said, _SILENT_WINDOW)
    return ContributorSpec.in_place_of(
        health.agent_silent(settings),
        expression=f"{_ONE_OF_NODE} ({heard}) unless on (fleet, node) {lately} "
        # A node that was drained is about to end. Where no node is heard at all it is FleetSilent's.
        f"unless on (fleet, node) {series.was_lately(NodeState.DRAINING, '74m30s')} == 1 "
        f"and on (fleet) max by (fleet) ({lately})",
        contributor=NODE,
        pending_minutes=5,
        recovery_minutes=0,
        reason="An update of the agent takes minutes. A node that has ended is forgotten an hour and a quarter later.",
    )


def _hbm_pressure(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    # 10 of 15 minutes: two fifths of them may be lower.
    high = series.below_share(0.4, "node_hbm_used_ratio")
    return ContributorSpec.in_place_of(
        health.hbm_pressure(settings),
        expression=f"{_ONE_OF_NODE} ({high}) > {settings.thresholds.hbm_percent / 100:g}",
        contributor=NODE,
        pending_minutes=10,
        recovery_minutes=15,
        reason="Loading and checkpoints use more for minutes; ten minutes are how the job is.",
    )


def _spool_growing(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    return ContributorSpec.in_place_of(
        health.spool_growing(settings),
        expression=f"{_ONE_OF_NODE} ({series.last('agent_spool_bytes')}) > {health.SPOOL_BYTES}",
        contributor=NODE,
        pending_minutes=10,
        recovery_minutes=10,
        reason="What waits is hours of measurements; a spool that empties goes below the bar and stays there.",
    )


def _efa_degraded(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    past = series.below_share(0.7, "efa_fallback_to_tcp_per_minute")
    again = series.below_share(0.7, "efa_retransmits_per_minute")
    sent = series.mean("efa_transmit_bytes_per_minute")
    share = f"{health.RETRANSMITS_PER_MB / 1_000_000:.6f} * {_ONE_OF_NODE} ({sent})"
    return ContributorSpec.in_place_of(
        health.efa_degraded(settings),
        expression=f"{_ONE_OF_NODE} ({past}) >= 1 or {_ONE_OF_NODE} ({again}) > {health.RETRANSMITS_IGNORED} + {share}",
        contributor=NODE,
        pending_minutes=5,
        recovery_minutes=15,
        reason="Three tenths of a quarter of an hour: a burst of a congested minute ends, a job over TCP goes on.",
    )


def _compilation(settings: AlarmSettings) -> list[ContributorSpec]:
    series = Series.of(settings)
    classic = {spec.key: spec for spec in compilation_alarms(settings)}
    rules = [
        ContributorSpec.in_place_of(
            classic["CompileTooLong"],
            expression=f"{_ONE_OF_NODE} ({series.is_now(NodeState.COMPILING)}) == 1",
            contributor=NODE,
            pending_minutes=90,
            recovery_minutes=10,
            reason="A large model's first compilation takes an hour or more; ninety minutes are for its owner to know.",
        )
    ]
    for key, name in (
        ("CompileFailing", "node_compile_failures_per_minute"),
        ("CacheMissWhileServing", "node_compile_cache_misses_per_minute"),
    ):
        if key in classic:
            rules.append(
                ContributorSpec.in_place_of(
                    classic[key],
                    expression=f"{_ONE_OF_NODE} ({series.most(name, QUARTER)}) >= 1",
                    contributor=NODE,
                    pending_minutes=0,
                    recovery_minutes=0,
                    reason="One is enough; a model's many graphs are one ticket, which the quarter of an hour holds.",
                )
            )
    return rules
