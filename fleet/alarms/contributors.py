"""Alarms that follow each job and each node of a fleet, in PromQL, over the series that agents send by OTLP.

The classic set has one alarm for each fleet and kind, so a second fault is not told while the first one lasts. Here
every job and every node is a contributor with a state of its own.
"""

from typing import Final

from fleet.alarm_page import EvidenceKind
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import Area, ContributorSpec, Severity

# Agents send over 20 seconds, and what they sent may become visible minutes later: a range holds what is late.
LATE_MINUTES: Final = 6


def contributor_alarms(settings: AlarmSettings) -> tuple[ContributorSpec, ...]:
    """Every alarm of the fleet that follows jobs and nodes."""
    return (_hardware_fault(settings),)


def _hardware_fault(settings: AlarmSettings) -> ContributorSpec:
    where = f'environment="{settings.environment}",fleet="{settings.fleet}"'
    return ContributorSpec(
        environment=settings.environment,
        subject=settings.fleet,
        area=Area.HEALTH,
        key="HardwareFault",
        title="Hardware fault",
        severity=Severity.PAGE,
        summary="A Neuron device reports a hardware error that does not heal by itself.",
        action="Drain the faulty node, then replace or reboot it, whichever its line says; its job needs a restart.",
        evidence=EvidenceKind.FAULTY_NODES,
        expression=(
            "max by (fleet, node) (max_over_time("
            f'neuron_fleet_node_state{{{where},neuron_fleet_node_state="FAULT"}}[{LATE_MINUTES}m])) == 1'
        ),
        contributor=("fleet", "node"),
        pending_seconds=0,
        recovery_seconds=600,
        reason="One minute of an error for which AWS documents an action is enough; a repeated report is one incident.",
    )
