"""Runs a parsed Logs Insights query over log events: which rows come back, with which fields, in which order."""

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from local.emulator.logs.derived import Derived, derived, unnested
from local.emulator.logs.events import Event
from local.emulator.logs.insights_nodes import (
    Column,
    Command,
    Comparison,
    Condition,
    Dedup,
    Field,
    Fields,
    Filter,
    Function,
    Json,
    Limit,
    Sort,
    Stats,
    Unnest,
)
from local.emulator.logs.insights_stats import Group, aggregate, value_of

DEFAULT_LIMIT: Final = 10_000
_ORDERINGS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


Row = Event | Derived | Group


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows as GetQueryResults shows them, and what was read for them."""

    rows: list[dict[str, str]]
    matched: int
    scanned: int
    bytes_scanned: int


def run(query: Sequence[Command], events: Iterable[Event], limit: int | None = None) -> QueryResult:
    """Run the commands in order. Without a ``sort`` the newest events come first, as on AWS."""
    scanned = sorted(events, key=lambda event: event.timestamp, reverse=True)
    rows: Sequence[Row] = scanned
    matched = len(rows)
    for command in query:
        rows = _step(command, rows)
        matched = len(rows) if isinstance(command, Filter) else matched
    columns = _columns(query)
    shaped = [_shown(row, columns) for row in rows[: min(limit or DEFAULT_LIMIT, DEFAULT_LIMIT)]]
    return QueryResult(shaped, matched, len(scanned), sum(len(event.message) for event in scanned))


def _columns(query: Sequence[Command]) -> list[Column]:
    """The columns of every ``fields``, or of the last ``display`` alone."""
    shown = [command for command in query if isinstance(command, Fields)]
    only = [command for command in shown if command.only]
    columns = [column for command in (only[-1:] or shown) for column in command.columns]
    return columns or [Field("@timestamp"), Field("@message")]


def _step(command: Command, rows: Sequence[Row]) -> Sequence[Row]:
    match command:
        case Filter(condition):
            return [row for row in rows if holds(condition, row)]
        case Stats():
            return aggregate(command, rows)
        case Fields(columns):
            return derived(columns, rows)
        case Unnest(source, name):
            return unnested(source, name, rows)
        case _:
            return _arranged(command, rows)


def _arranged(command: Limit | Dedup | Sort, rows: Sequence[Row]) -> Sequence[Row]:
    """The same rows: fewer of them, or in another order."""
    if isinstance(command, Limit):
        return rows[: command.rows]
    if isinstance(command, Dedup):
        first: dict[tuple[str, ...], Row] = {}
        for row in rows:
            first.setdefault(tuple(repr(row.value(each.label)) for each in command.columns), row)
        return list(first.values())
    for column, descending in reversed(command.keys):
        rows = _sorted(rows, column.label, descending)
    return rows


def _sorted(rows: Sequence[Row], name: str, descending: bool) -> list[Row]:
    return sorted(rows, key=lambda row: _rank(row.value(name)), reverse=descending)


def _rank(value: Json) -> tuple[int, float, str]:
    """Missing first, then numbers, then text."""
    if isinstance(value, int | float):
        return 1, float(value), ""
    return (0, 0.0, "") if value is None else (2, 0.0, _text(value))


def holds(condition: Condition, row: Row) -> bool:
    """Whether a row meets a condition; an ordering with a missing field is false."""
    if isinstance(condition, Comparison):
        return _compare(condition, row)
    results = (holds(each, row) for each in condition.conditions)
    if condition.operator == "and":
        return all(results)
    return any(results) if condition.operator == "or" else not next(results)


def _compare(comparison: Comparison, row: Row) -> bool:
    left = value_of(comparison.left, row)
    if comparison.operator == "in":
        return any(_equal(left, value_of(each, row)) for each in comparison.right)
    if comparison.operator == "like":
        pattern = comparison.right[0]
        return bool(pattern.search(_text(left))) if isinstance(pattern, re.Pattern) else str(pattern) in _text(left)
    right = value_of(comparison.right[0], row)
    if comparison.operator in ("=", "!="):
        return _equal(left, right) is (comparison.operator == "=")
    a, b = _number(left), _number(right)
    return a is not None and b is not None and _ORDERINGS[comparison.operator](a, b)


def _equal(left: Json, right: Json) -> bool:
    a, b = _number(left), _number(right)
    return a == b if a is not None and b is not None else _text(left) == _text(right)


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _shown(row: Row, columns: Sequence[Column]) -> dict[str, str]:
    if isinstance(row, Group):
        return {name: _text(value) for name, value in row.columns.items() if value is not None}
    shown: dict[str, str] = {}
    for column in columns:
        value = row.value(column.label)
        if value is not None:
            is_time = value == row.timestamp and "@timestamp" in _names(column)
            shown[column.label] = _time(row.timestamp) if is_time else _text(value)
    return {**shown, "@ptr": row.pointer}


def _names(column: Column) -> tuple[str, ...]:
    """The column's own name, and that of the field that it is another name of."""
    arguments = column.arguments if isinstance(column, Function) and column.function == "alias" else ()
    return (column.label, *(each.name for each in arguments if isinstance(each, Field)))


def _text(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
