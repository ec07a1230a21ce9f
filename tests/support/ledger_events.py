"""Log events as nodes and the capacity watch write them, cut down to what the ledger reads."""

from typing import Any

ON_DEMAND = {"usd_per_hour": 21.5, "kind": "on-demand", "source": "EC2 price list", "as_of": "2026-08-01"}


def node_event(**changes: Any) -> dict[str, Any]:
    """A minute of a trn1 node that runs; a property that is changed to None is absent."""
    event = {
        "schema": 1,
        "environment": "prod",
        "fleet": "pretrain",
        "node": "i-0a",
        "instance_type": "trn1.32xlarge",
        "owner": "llm-team",
        "state": "RUNNING",
        "state_reason": "",
        "seq": 7,
        "boot_id": "b1",
        "minute": "2026-11-20T10:00:00Z",
        "price": ON_DEMAND,
        "job": "j1",
        "jobs": [{"job": "j1", "owner": "ana", "cores": 32.0}],
        "agent_version": "1",
        "_aws": {"Timestamp": 0, "CloudWatchMetrics": []},
        **changes,
    }
    return {name: value for name, value in event.items() if value is not None}


def capacity_event(**changes: Any) -> dict[str, Any]:
    """A look at a fleet with two reserved instances that nobody uses."""
    event = {
        "schema": 1,
        "kind": "capacity",
        "environment": "prod",
        "fleet": "pretrain",
        "owner": "llm-team",
        "instance_type": "trn1.32xlarge",
        "minute": "2026-11-20T10:00:00Z",
        "reserved": 4,
        "used": 2,
        "unused": 2,
        "price": ON_DEMAND,
        "unused_usd_per_hour": 43.0,
        **changes,
    }
    return {name: value for name, value in event.items() if value is not None}
