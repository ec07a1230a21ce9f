"""The rules as a rule file of Prometheus, which Mimir, Thanos and Amazon Managed Service for Prometheus take too.

Source: Prometheus documentation, "Alerting rules" (``for``, ``keep_firing_for`` since 2.42), read 2026-11-23.
"""

from collections.abc import Iterable
from typing import Any, Final

from environments.alarm_export.followed import Followed
from fleet.alarms import ContributorSpec

_INTERVAL: Final = "1m"


def rule_file(fleets: Iterable[Followed]) -> dict[str, Any]:
    """The file as plain values: a group for each fleet, evaluated as often as agents close a minute."""
    return {"groups": [_group(fleet) for fleet in fleets]}


def _group(fleet: Followed) -> dict[str, Any]:
    name = f"neuron-fleet-{fleet.environment}-{fleet.fleet}"
    return {"name": name, "interval": _INTERVAL, "rules": [_rule(fleet, rule) for rule in fleet.rules]}


def _rule(fleet: Followed, rule: ContributorSpec) -> dict[str, Any]:
    times = {"for": rule.pending_seconds, "keep_firing_for": rule.recovery_seconds}
    return {
        "alert": rule.key,
        "expr": rule.expression,
        **{name: f"{seconds // 60}m" for name, seconds in times.items() if seconds},
        "labels": fleet.labels(rule),
        "annotations": {name: _literal(text) for name, text in fleet.annotations(rule).items()},
    }


def _literal(text: str) -> str:
    # Braces would be a template.
    return text.replace("{{", "{ {")
