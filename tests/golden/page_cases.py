"""An incident for every alarm that wakes somebody, as the pager would meet it at 3:41 in the morning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from fleet.alarms import Severity, Spec
from tests.support.alarm_pages import every_alarm
from tests.support.pager import AT, ENVIRON, Pager, history

NODES: Final = ("i-0a1b2c3d4e5f60718", "i-0f9e8d7c6b5a40312", "i-03c4d5e6f708192a4")
GOOD: Final = {"wasted_usd_per_hour": 1.0, "tensor_engine_utilization": 41.0, "neuron_core_utilization": 97.0}
CHAT: Final = {
    "fleet": "inf2-chat",
    "instance_type": "inf2.24xlarge",
    "job": "chat",
    "job_name": "chat",
    "owner": "chat-platform",
    "cost_usd_per_hour": 6.49,
    "wasted_usd_per_hour": 0.0,
    "tensor_engine_utilization": None,
    "neuron_core_utilization": 96.0,
    "price": {"usd_per_hour": 6.49, "kind": "on-demand", "source": "AWS price list", "as_of": "2026-11-01"},
}


EMPTY: Final = {"state": "NO_JOB", "job": None, "job_name": None, "wasted_usd_per_hour": 6.49}
STARTS: Final[Mapping[str, Any]] = {"state": "STARTUP", "wasted_usd_per_hour": None, "tensor_engine_utilization": None}
AWAY: Final[Mapping[str, Any]] = EMPTY | {"wasted_usd_per_hour": 21.5, "tensor_engine_utilization": None}
CRASHES: Final[Mapping[str, Any]] = {
    **STARTS,
    "jobs": [{"job": "llama-8", "job_name": "llama-pretrain", "cost_usd_per_hour": 21.5, "vain_runs": 3}],
}
LOST: Final = {"job": "llama-8", "cost_usd_per_hour": 21.5, "non_finite_losses": 9}


@dataclass(frozen=True)
class Incident:
    """``nodes`` are histories by node: fields by minutes ago. ``reason`` is what CloudWatch says of its numbers.

    ``deploying`` and ``rolling`` are minutes ago in which something was being changed, of the last 30.
    """

    key: str
    reason: str
    nodes: Mapping[str, Mapping[int, Mapping[str, Any]]] = field(default_factory=dict)
    silent_for: Mapping[str, int] = field(default_factory=dict)
    deploying: range = range(0)
    rolling: range = range(0)


def _crossed(count: int, of: int, values: str, rule: str) -> str:
    """As CloudWatch words it."""
    were = "was" if count == 1 else "were"
    return f"Threshold Crossed: {count} out of the last {of} datapoints [{values}] {were} {rule}."


INCIDENTS: Final = (
    Incident(
        "LowUtilization",
        "arn:aws:cloudwatch:us-east-2:111122223333:alarm:prod/trn1-pretrain/WasteAboveThreshold transitioned to ALARM "
        "at Saturday 21 November, 2026 03:41:12 UTC",
        {
            NODES[0]: {20: GOOD, 14: {"wasted_usd_per_hour": 18.2, "tensor_engine_utilization": 6.1}},
            NODES[1]: {20: GOOD, 14: {"wasted_usd_per_hour": 17.9, "tensor_engine_utilization": 6.7}},
            NODES[2]: {20: {**GOOD, "job": "eval-3", "job_name": "eval", "owner": "evaluation"}},
        },
        deploying=range(17, 25),
    ),
    Incident(
        "IdleAllocated",
        _crossed(4, 5, "0.0 (21/11/26 03:40:00), 0.0 (21/11/26 03:39:00)", "less than the threshold (5.0)"),
        {
            NODES[0]: {
                20: GOOD,
                6: {
                    "wasted_usd_per_hour": 21.5,
                    "tensor_engine_utilization": None,
                    "neuron_core_utilization": 0.0,
                    "job": "notebook-7",
                    "job_name": "notebook",
                    "owner": "applied-research",
                },
            },
            NODES[1]: {20: GOOD},
        },
    ),
    Incident(
        "JobHang",
        _crossed(1, 1, "1.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (1.0)"),
        {
            node: {
                20: GOOD,
                12: {
                    "wasted_usd_per_hour": 21.5,
                    "neuron_core_utilization": 99.0,
                    "tensor_engine_utilization": None,
                    "state_reason": "nothing completed for 10 min",
                },
            }
            for node in NODES
        },
    ),
    Incident(
        "NodesWithoutJob",
        _crossed(3, 15, "43.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (5.0)"),
        {
            NODES[0]: {44: GOOD, 33: EMPTY | {"wasted_usd_per_hour": 21.5}},
            NODES[1]: {44: GOOD, 33: EMPTY | {"wasted_usd_per_hour": 21.5}},
            NODES[2]: {44: {**GOOD, "job": "eval-3", "job_name": "eval", "owner": "evaluation"}},
        },
    ),
    Incident(
        "CrashLoop",
        _crossed(3, 15, "43.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (5.0)"),
        {
            node: {44: GOOD, 30: STARTS, 25: AWAY, 23: STARTS, 17: AWAY, 15: STARTS, 9: AWAY, 7: CRASHES, 2: AWAY}
            for node in NODES[:2]
        }
        | {NODES[2]: {44: {**GOOD, "job": "eval-3", "job_name": "eval", "owner": "evaluation"}}},
    ),
    Incident(
        "NonFiniteLoss",
        _crossed(1, 15, "1.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (1.0)"),
        {
            # One rank reports for all nodes of its job.
            NODES[0]: {20: GOOD, 3: GOOD | {"jobs": [LOST]}},
            NODES[1]: {20: GOOD},
            NODES[2]: {20: {**GOOD, "job": "eval-3", "job_name": "eval", "owner": "evaluation"}},
        },
    ),
    Incident(
        "HardwareFault",
        _crossed(1, 1, "1.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (1.0)"),
        {
            NODES[0]: {20: GOOD},
            NODES[1]: {
                20: GOOD,
                2: {
                    "state": "FAULT",
                    "hardware_errors": [{"kind": "hbm-uncorrectable", "action": "replace", "device": 7}],
                },
            },
            NODES[2]: {20: GOOD},
        },
    ),
    Incident(
        "FleetBlind",
        _crossed(3, 3, "0.333 (21/11/26 03:40:00), 0.333 (21/11/26 03:39:00)", "greater than the threshold (0.05)"),
        {
            NODES[0]: {20: GOOD},
            NODES[1]: {20: GOOD, 4: {"state": "BLIND", "state_reason": "neuron-monitor ended with code -9"}},
            NODES[2]: {20: GOOD},
        },
        deploying=range(9),
    ),
    Incident(
        "FleetSilent",
        _crossed(15, 15, "1.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (1.0)"),
        {node: {40: GOOD} for node in NODES[:2]},
        silent_for={NODES[0]: 16, NODES[1]: 16},
    ),
    Incident(
        "EndpointErrors",
        _crossed(3, 5, "7.2 (21/11/26 03:40:00), 6.9 (21/11/26 03:39:00)", "greater than the threshold (5.0)"),
        {NODES[0]: {20: CHAT}, NODES[1]: {20: CHAT}},
        rolling=range(12),
    ),
    Incident(
        "EndpointLatencyP99",
        _crossed(5, 10, "3.4 (21/11/26 03:40:00), 3.1 (21/11/26 03:39:00)", "greater than the threshold (2.0)"),
        {NODES[0]: {20: CHAT}, NODES[1]: {20: CHAT | {"neuron_core_utilization": 35.0}}},
    ),
    Incident(
        "NoHealthyTargets",
        _crossed(3, 3, "0.0 (21/11/26 03:40:00), 0.0 (21/11/26 03:39:00)", "less than the threshold (1.0)"),
        {NODES[0]: {20: CHAT, 5: CHAT | EMPTY}},
        deploying=range(7),
    ),
    Incident(
        "PagerDelayed",
        _crossed(1, 1, "641.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (600.0)"),
    ),
    Incident(
        "PagerUndelivered",
        _crossed(1, 1, "2.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (1.0)"),
    ),
    Incident(
        "RolloutUnhandled",
        _crossed(1, 1, "1.0 (21/11/26 03:40:00)", "greater than or equal to the threshold (1.0)"),
        rolling=range(9, 20),
    ),
)  # fmt: skip


def waking_alarms() -> dict[str, Spec]:
    """Every alarm that pages, by its key."""
    return {spec.key: spec for spec in every_alarm() if spec.notifies and spec.severity is Severity.PAGE}


def destinations() -> dict[str, str]:
    """The pager's settings, with mail beside PagerDuty and Slack."""
    topic = "arn:aws:sns:us-east-2:111122223333:on-call"
    paging = (
        '{"destinations": {"pagerduty": ["pagerduty", "prod/pagerduty"], "slack": ["slack", "prod/slack"],'
        f' "mail": ["email", "{topic}"]}}, "routes": [[["pagerduty", "slack", "mail"], "page", null]]}}'
    )
    return {**ENVIRON, "PAGING": paging}


def pager(incident: Incident) -> Pager:
    """A pager that has seen what ``incident`` left behind."""
    made = Pager(environ=destinations())
    for node, states in incident.nodes.items():
        until = AT - timedelta(minutes=incident.silent_for.get(node, 0))
        made.seen(*(event for event in history(node, states) if datetime.fromisoformat(event["minute"]) < until))
    looks = dict.fromkeys(_ago(range(30)), 0.0)
    made.cloudwatch.by_id = {
        "deployment": looks | dict.fromkeys(_ago(incident.deploying), 1.0),
        "rollout": dict.fromkeys(_ago(incident.rolling), 1.0),
    }
    return made


def _ago(minutes: range) -> Iterator[datetime]:
    return (AT - timedelta(minutes=minute + 1) for minute in minutes)
