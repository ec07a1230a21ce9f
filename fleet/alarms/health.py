"""Are the nodes well, and can they be seen: hardware, blindness, memory, the agent's spool."""

from typing import Final

from fleet import metrics
from fleet.alarm_page import LONG_EVIDENCE_MINUTES, EvidenceKind
from fleet.alarms.metric_refs import MathRef
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Area, Comparison, TreatMissingData
from fleet.lateness import lasting, lasting_of_one

BLIND_SHARE: Final = 0.05
# A monitor that is restarted is away for up to three minutes, and a minute is blind that was not seen to its end.
BLIND_MINUTES: Final = 5
SILENT_MINUTES: Final = 15
# 1.4 to 2.4 KB a minute and sink, so this is four to nine hours of one node; less is a hiccup of the network.
SPOOL_BYTES: Final = 1_000_000
# No figure of AWS: a share of some 1 % of full-size packets, and a floor below which a share means nothing.
RETRANSMITS_PER_MB: Final = 1
RETRANSMITS_IGNORED: Final = 1_000


def node_alarms(settings: AlarmSettings) -> tuple[AlarmSpec, ...]:
    """Those that every fleet with nodes has, and that wake nobody."""
    return (
        node_blind(settings),
        agent_silent(settings),
        hbm_pressure(settings),
    )


def hardware_fault(settings: AlarmSettings) -> AlarmSpec:
    """An error for which AWS documents an action: reboot or replace."""
    return settings.about(Area.HEALTH).page(
        "HardwareFault",
        summary="A Neuron device reports a hardware error that does not heal by itself.",
        action="Drain the faulty node, then replace or reboot it, whichever its line says; its job needs a restart.",
        evidence=EvidenceKind.FAULTY_NODES,
        metric=MathRef(
            # One of the two may be missing for a minute, and a missing operand would swallow the other.
            "IF(FILL(faulty, 0) >= 1 OR FILL(errors, 0) > 0, 1, 0)",
            (
                ("faulty", settings.metric(metrics.NODES_FAULT, "Maximum")),
                ("errors", settings.metric(metrics.HARDWARE_ERRORS, "Maximum")),
            ),
        ),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=lasting(1),
        silence=TreatMissingData.NOT_BREACHING,
    )


def fleet_blind(settings: AlarmSettings) -> AlarmSpec:
    """Too many nodes whose agent lives and measures nothing."""
    return settings.about(Area.HEALTH).page(
        "FleetBlind",
        summary=f"More than {BLIND_SHARE:.0%} of the fleet's {settings.nodes} nodes cannot be measured.",
        action="Over Session Manager run: systemctl restart neuron-fleet-agent (it starts neuron-monitor anew).",
        # The average of a 0/1 metric is the share of nodes, and stays so when a batch is sent twice.
        evidence=EvidenceKind.SILENT_NODES,
        metric=settings.metric(metrics.NODES_BLIND, "Average"),
        comparison=Comparison.ABOVE,
        threshold=BLIND_SHARE,
        datapoints=lasting(BLIND_MINUTES),
        # A fleet without nodes says nothing either, and is well: FleetSilent knows the difference.
        silence=TreatMissingData.NOT_BREACHING,
    )


def fleet_silent(settings: AlarmSettings) -> AlarmSpec:
    """EC2 shows nodes, and not one agent says anything."""
    return settings.about(Area.HEALTH).page(
        "FleetSilent",
        summary="The fleet has nodes, and no agent has said anything for a quarter of an hour.",
        action="Look at one node over Session Manager: does the agent run, and does it reach CloudWatch?",
        evidence=EvidenceKind.SILENT_NODES,
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=MathRef(
            # AND takes a missing operand for 0, which would end the alarm; a missing condition leaves no datapoint.
            "IF(nodes >= 1, FILL(heartbeat, 0) < 1, 0)",
            (
                ("heartbeat", settings.metric(metrics.AGENT_HEARTBEAT, "Maximum")),
                # Of two looks in a minute the one that sees fewer nodes counts.
                ("nodes", settings.metric(metrics.PRESENT_NODES, "Minimum")),
            ),
        ),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # A node that boots is silent too, for less than this.
        datapoints=lasting_of_one(SILENT_MINUTES),
        # Without the capacity watch nobody knows whether there are nodes; CapacityWatchSilent tells of that.
        silence=TreatMissingData.KEEP,
    )


def agent_silent(settings: AlarmSettings) -> AlarmSpec:
    """One agent among many that says nothing: none of its own metrics can show it."""
    return settings.about(Area.HEALTH).ticket(
        "AgentSilent",
        summary="A node has run for twenty minutes, and its agent says nothing.",
        action="See in the runbook's query which; restart its agent over Session Manager, else replace the node.",
        evidence=EvidenceKind.SILENT_NODES,
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=MathRef(
            # Where none is heard it is FleetSilent's, which wakes somebody. By what the watch saw then: heartbeats that
            # come late would tell of a minute in which all were silent that one was not. A missing operand counts as 0
            # and a missing condition drops the minute: the outer one is what keeps the state of an unseen minute.
            "IF(silent >= 0, IF(silent < nodes, silent, 0))",
            (
                ("silent", settings.metric(metrics.SILENT_NODES, "Minimum")),
                ("nodes", settings.metric(metrics.PRESENT_NODES, "Minimum")),
            ),
        ),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # An agent that is updated, or a node that is ended, is silent for a few minutes.
        datapoints=lasting_of_one(10),
        silence=TreatMissingData.KEEP,
    )


def node_blind(settings: AlarmSettings) -> AlarmSpec:
    """One node without a measurement."""
    return settings.about(Area.HEALTH).ticket(
        "NodeBlind",
        summary="A node's neuron-monitor is silent, so nobody knows what its cores do.",
        action="Restart the agent on the node; if the monitor dies again, read its stderr in the journal.",
        evidence=EvidenceKind.SILENT_NODES,
        metric=settings.metric(metrics.NODES_BLIND, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=lasting(BLIND_MINUTES),
        silence=TreatMissingData.NOT_BREACHING,
    )


def hbm_pressure(settings: AlarmSettings) -> AlarmSpec:
    """Device memory nearly full; the true limit is lower than it looks, for not all use is counted."""
    return settings.about(Area.HEALTH).ticket(
        "HbmPressure",
        title="HBM pressure",
        summary=f"A device uses more than {settings.thresholds.hbm_percent:g} % of its memory.",
        action="Lower the batch or sequence length, or shard further, before the next allocation fails.",
        metric=settings.metric(metrics.HBM_USED_PERCENT, "Maximum"),
        comparison=Comparison.ABOVE,
        threshold=settings.thresholds.hbm_percent,
        datapoints=(10, 15),
        silence=TreatMissingData.NOT_BREACHING,
        drawn_on=metrics.HBM_USED_PERCENT.name,
    )


def efa_degraded(settings: AlarmSettings) -> AlarmSpec:
    """Nodes that talk past EFA, or have to say much of it again: every collective waits for them."""
    limit = f"{RETRANSMITS_IGNORED} + {RETRANSMITS_PER_MB} * FILL(sent, 0) / 1000000"
    return settings.about(Area.HEALTH).ticket(
        "EfaDegraded",
        title="EFA degraded",
        summary="A job's nodes talk over TCP in place of EFA, or EFA sends many packets again.",
        action="Check FI_PROVIDER=efa and the security group's rule to itself; for one bad node, replace the node.",
        metric=MathRef(
            # Counters of retransmissions exist on Nitro v4 and later only: one that is missing must not hide the other.
            f"IF(FILL(fallback, 0) >= 1 OR FILL(again, 0) > {limit}, 1, 0)",
            (
                ("fallback", settings.metric(metrics.EFA_FALLBACK_TO_TCP, "Maximum")),
                ("again", settings.metric(metrics.EFA_RETRANSMITS, "Maximum")),
                ("sent", settings.metric(metrics.EFA_TRANSMIT_BYTES, "Maximum")),
            ),
        ),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # A job that began over TCP stays there; a burst of a congested minute does not last.
        datapoints=(5, 15),
        silence=TreatMissingData.NOT_BREACHING,
    )


def spool_growing(settings: AlarmSettings) -> AlarmSpec:
    """Measurements that wait on a disk instead of reaching CloudWatch."""
    return settings.about(Area.HEALTH).ticket(
        "SpoolGrowing",
        summary="A node cannot send its measurements and keeps them on its disk.",
        action="Check the node's route to CloudWatch and its role; nothing is lost for three days.",
        metric=settings.metric(metrics.SPOOL_BYTES, "Maximum"),
        comparison=Comparison.ABOVE,
        threshold=SPOOL_BYTES,
        datapoints=lasting(10),
        silence=TreatMissingData.NOT_BREACHING,
    )
