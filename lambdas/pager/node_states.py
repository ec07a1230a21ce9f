"""A fleet of more nodes than a query returns events for: one row for each node and state, made into events again. Pure.

A row's first and last minute stand for the minutes between them, which the row does not tell of.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from lambdas.pager.model import NodeEvent

# Logs Insights returns at most 10,000 rows: 2,000 nodes in five states each.
ROWS: Final = 10_000
_NEWEST: Final = (
    "state_reason",
    "instance_type",
    "job",
    "job_name",
    "owner",
    "tensor_engine_utilization",
    "neuron_core_utilization",
    "cost_usd_per_hour",
    "wasted_usd_per_hour",
    "price.usd_per_hour",
    "price.kind",
    "price.source",
    "price.as_of",
    "hardware_errors.0.kind",
    "hardware_errors.0.action",
    "hardware_errors.0.device",
)


def query(fleet: str) -> str:
    """Each node's states in the window: from when to when, and the newest of what was said in each."""
    newest = ", ".join(f"latest({field}) as {_column(field)}" for field in _NEWEST)
    return (
        f'filter fleet = "{fleet}" | stats earliest(minute) as first_minute, latest(minute) as last_minute, {newest} '
        f"by node, state | sort last_minute desc | limit {ROWS}"
    )


def events_of(rows: Sequence[Mapping[str, str]]) -> list[NodeEvent]:
    """The first and the last event of each row; a row that is none is left out."""
    return [event for row in rows for event in _events(row)]


def _column(field: str) -> str:
    return field.replace(".", "_")


def _events(row: Mapping[str, str]) -> Iterator[NodeEvent]:
    fields: dict[str, Any] = {name: row[name] for name in _NEWEST if "." not in name and row.get(name)}
    price = _under(row, "price")
    error = _under(row, "hardware_errors_0")
    # A price of which a part is missing would be another price.
    fields["price"] = price if len(price) == 4 else None
    fields["hardware_errors"] = [error] if {"kind", "action"} <= set(error) else []
    for seq, minute in enumerate(dict.fromkeys((row.get("first_minute"), row.get("last_minute")))):
        try:
            yield NodeEvent.model_validate(
                {**fields, "node": row.get("node"), "state": row.get("state"), "minute": minute, "seq": seq}
            )
        except ValidationError:
            continue


def _under(row: Mapping[str, str], prefix: str) -> dict[str, str]:
    start = f"{prefix}_"
    return {name.removeprefix(start): text for name, text in row.items() if name.startswith(start) and text}
