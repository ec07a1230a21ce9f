"""The ``stats`` command of Logs Insights: rows grouped by fields and time bins, one statistic a column."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from local.emulator.logs.insights_syntax import Aggregate, Field, QueryError

_UNIT_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True, slots=True)
class Group:
    """One row of the result."""

    columns: dict[str, Any]

    def value(self, name: str) -> Any:
        """A column of the row."""
        return self.columns.get(name)


def aggregate(aggregates: Sequence[Any], by: Sequence[Any], rows: Sequence[Any]) -> list[Group]:
    """Group the rows and compute each statistic; without ``by`` there is one group."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        groups.setdefault(tuple(_key(each, row) for each in by), []).append(row)
    labels = [each.name if isinstance(each, Field) else each.label for each in by]
    return [
        Group(dict(zip(labels, key, strict=True)) | {each.label: _statistic(each, members) for each in aggregates})
        for key, members in groups.items()
    ]


def _key(grouping: Any, row: Any) -> Any:
    if isinstance(grouping, Field):
        value = row.value(grouping.name)
        return str(value) if isinstance(value, list | dict) else value
    if grouping.function == "field":
        return row.value(grouping.arguments[0].name)
    if grouping.function != "bin":
        raise QueryError(f"stats: cannot group by {grouping.label}")
    match = re.fullmatch(r"(\d+)(ms|s|m|h|d)", str(grouping.arguments[0]))
    if match is None:
        raise QueryError(f"bin: {grouping.arguments[0]!r} is not a duration such as 5m")
    width = int(match[1]) * _UNIT_MS[match[2]]
    start = int(row.value("@timestamp")) // width * width
    return datetime.fromtimestamp(start / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _statistic(wanted: Any, rows: Sequence[Any]) -> Any:
    if not isinstance(wanted, Aggregate) or wanted.function in ("bin", "field"):
        raise QueryError(f"stats: {getattr(wanted, 'name', wanted)!r} is not a statistic")
    if wanted.function == "count" and not wanted.arguments:
        return len(rows)
    name = wanted.arguments[0].name if isinstance(wanted.arguments[0], Field) else str(wanted.arguments[0])
    present = [(row.value("@timestamp"), row.value(name)) for row in rows if row.value(name) is not None]
    if wanted.function in ("count", "count_distinct"):
        values = [str(value) for _, value in present]
        return len(set(values)) if wanted.function == "count_distinct" else len(values)
    if wanted.function in ("latest", "earliest"):
        ordered = sorted(present, key=lambda each: each[0])
        return ordered[-1 if wanted.function == "latest" else 0][1] if ordered else None
    return _of_numbers(wanted, [float(value) for _, value in present if isinstance(value, int | float)])


def _of_numbers(wanted: Aggregate, numbers: list[float]) -> float | None:
    if not numbers:
        return None
    if wanted.function == "avg":
        return sum(numbers) / len(numbers)
    if wanted.function == "pct":
        rank = math.ceil(float(wanted.arguments[1]) / 100 * len(numbers))
        return sorted(numbers)[max(rank - 1, 0)]
    return {"max": max, "min": min, "sum": sum}[wanted.function](numbers)
