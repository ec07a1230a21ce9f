"""The rules as Grafana-managed alerts, in a file that Grafana provisions.

Source: Grafana documentation, "Use configuration files to provision alerting resources" (apiVersion 1), read
2026-11-23. A rule of Grafana fires where its condition is not zero, so each series that a query returns is compared
with nothing: what is there is breaching, whatever its value.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

from environments.alarm_export.followed import Followed
from fleet.alarms import ContributorSpec

DATASOURCE: Final = "prometheus"
_FOLDER: Final = "Neuron Fleet"
_INTERVAL: Final = "1m"
# Grafana's name for a data source that only calculates.
_EXPRESSION: Final = "__expr__"
_UID_LENGTH: Final = 40
_SERIES, _BREACHING = "A", "B"


def provisioning(fleets: Iterable[Followed], datasource: str = DATASOURCE) -> dict[str, Any]:
    """The file as plain values; ``datasource`` is the uid of the Prometheus that has the series."""
    return {"apiVersion": 1, "groups": [_group(fleet, datasource) for fleet in fleets]}


def _group(fleet: Followed, datasource: str) -> dict[str, Any]:
    return {
        "orgId": 1,
        "name": f"neuron-fleet-{fleet.environment}-{fleet.fleet}",
        "folder": _FOLDER,
        "interval": _INTERVAL,
        "rules": [_rule(fleet, rule, datasource) for rule in fleet.rules],
    }


def _rule(fleet: Followed, rule: ContributorSpec, datasource: str) -> dict[str, Any]:
    return {
        "uid": sha256(rule.name.encode()).hexdigest()[:_UID_LENGTH],
        "title": f"{rule.key} {fleet.environment}/{fleet.fleet}",
        "condition": _BREACHING,
        "data": [_query(rule, datasource), _presence()],
        # A series that is absent is well, and a query that fails is Grafana's own alert.
        "noDataState": "OK",
        "execErrState": "Error",
        "for": f"{rule.pending_seconds}s",
        "keepFiringFor": f"{rule.recovery_seconds}s",
        "labels": {**fleet.labels(rule), "key": rule.key},
        "annotations": fleet.annotations(rule),
    }


def _query(rule: ContributorSpec, datasource: str) -> dict[str, Any]:
    model = {"refId": _SERIES, "expr": rule.expression, "instant": True, "range": False}
    return {
        "refId": _SERIES,
        "relativeTimeRange": {"from": 600, "to": 0},
        "datasourceUid": datasource,
        "model": model,
    }


def _presence() -> dict[str, Any]:
    model = {"refId": _BREACHING, "type": "math", "expression": "".join(("is_number($", _SERIES, ")"))}
    return {
        "refId": _BREACHING,
        "relativeTimeRange": {"from": 600, "to": 0},
        "datasourceUid": _EXPRESSION,
        "model": model,
    }
