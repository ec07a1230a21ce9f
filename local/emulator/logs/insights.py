"""Runs a parsed Logs Insights query over log events: which rows come back, with which fields, in which order."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from local.emulator.logs.insights_stats import aggregate
from local.emulator.logs.insights_syntax import Aggregate, Command, Condition, Field, QueryError

DEFAULT_LIMIT: Final = 10_000
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


@dataclass(slots=True)
class Event:
    """One stored log event; ``timestamp`` in milliseconds."""

    timestamp: int
    message: str
    group: str
    stream: str
    pointer: str = ""
    _parsed: Any = field(default=None, repr=False)

    def value(self, name: str) -> Any:
        """A system field, or the value at a dotted path of the JSON message; ``None`` when there is none."""
        system = {
            "@timestamp": self.timestamp,
            "@message": self.message,
            "@log": self.group,
            "@logStream": self.stream,
            "@ptr": self.pointer,
        }
        if name in system:
            return system[name]
        if self._parsed is None:
            self._parsed = _json_object(self.message)
        return _at_path(self._parsed, name)


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
    rows: list[Any] = list(scanned)
    matched = len(rows)
    columns: list[Any] = [Field("@timestamp"), Field("@message")]
    shown = [command for command in query if command.name in ("fields", "display")]
    if shown:
        columns = [column for command in shown[-1:] for column in command.arguments]
        if shown[-1].name == "fields":
            columns = [column for command in shown for column in command.arguments]
    for command in query:
        rows = _step(command, rows)
        matched = len(rows) if command.name == "filter" else matched
    rows = rows[: min(limit or DEFAULT_LIMIT, DEFAULT_LIMIT)]
    shaped = [_shown(row, columns) for row in rows]
    return QueryResult(shaped, matched, len(scanned), sum(len(event.message) for event in scanned))


def _step(command: Command, rows: list[Any]) -> list[Any]:
    if command.name == "filter":
        return [row for row in rows if holds(command.arguments[0], row)]
    if command.name == "stats":
        return aggregate(command.arguments, command.by, rows)
    if command.name == "limit":
        return rows[: command.arguments[0]]
    if command.name == "dedup":
        unique: dict[tuple[str, ...], Any] = {}
        for row in rows:
            unique.setdefault(tuple(str(row.value(key.name)) for key in command.arguments), row)
        return list(unique.values())
    if command.name == "sort":
        for key, descending in reversed(command.arguments):
            rows = sorted(rows, key=lambda row: _order(row.value(_column(key))), reverse=descending)
    return rows


def _column(key: Any) -> str:
    if isinstance(key, Field):
        return key.name
    if isinstance(key, Aggregate):
        return key.label
    raise QueryError(f"sort: {key!r} is not a field")


def _order(value: Any) -> tuple[int, float, str]:
    """Missing first, then numbers, then text."""
    if isinstance(value, int | float):
        return 1, float(value), ""
    return (0, 0.0, "") if value is None else (2, 0.0, str(value))


def holds(condition: Condition, row: Any) -> bool:
    """Whether a row meets a condition; a comparison with a missing field is false, but for ``!=``."""
    if condition.operator in ("and", "or", "not"):
        results = (holds(operand, row) for operand in condition.operands)
        if condition.operator == "and":
            return all(results)
        return any(results) if condition.operator == "or" else not next(results)
    left, right = (_value(operand, row) for operand in condition.operands)
    if condition.operator == "like":
        text = "" if left is None else str(left)
        return bool(right.search(text)) if isinstance(right, re.Pattern) else str(right) in text
    if condition.operator == "in":
        return any(_equal(left, _value(each, row)) for each in right)
    if condition.operator in ("=", "!="):
        return _equal(left, right) is (condition.operator == "=")
    a, b = _number(left), _number(right)
    return a is not None and b is not None and _COMPARISONS[condition.operator](a, b)


def _equal(left: Any, right: Any) -> bool:
    a, b = _number(left), _number(right)
    return a == b if a is not None and b is not None else _text(left) == _text(right)


def _value(operand: Any, row: Any) -> Any:
    return row.value(operand.name) if isinstance(operand, Field) else operand


def _number(value: Any) -> float | None:
    try:
        return float(value) if not isinstance(value, bool) and value is not None else None
    except (TypeError, ValueError):
        return None


def _shown(row: Any, columns: Sequence[Any]) -> dict[str, str]:
    if not isinstance(row, Event):
        return {name: _text(value) for name, value in row.columns.items() if value is not None}
    shown: dict[str, str] = {}
    for column in columns:
        label = column.label if isinstance(column, Aggregate) else column.name
        source = column.arguments[0].name if isinstance(column, Aggregate) else column.name
        value = row.value(source)
        if value is not None:
            shown[label] = _time(value) if source == "@timestamp" else _text(value)
    return {**shown, "@ptr": row.pointer}


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _json_object(message: str) -> Any:
    try:
        return json.loads(message)
    except ValueError:
        return {}


def _at_path(value: Any, path: str) -> Any:
    if isinstance(value, dict) and path in value:
        return value[path]
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
