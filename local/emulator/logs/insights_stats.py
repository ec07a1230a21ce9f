"""The ``stats`` command of Logs Insights: rows grouped by fields and time bins, one statistic a column."""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol, TypeGuard

from local.emulator.logs.insights_nodes import Column, Field, Function, Json, Operand, QueryError, Stats

ARITHMETIC: Final[Mapping[str, Callable[..., float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "floor": math.floor,
    # A time is in milliseconds here already.
    "tomillis": float,
}
_UNIT_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Row(Protocol):
    """What can be grouped: a log event, or a row of an earlier ``stats``."""

    def value(self, name: str) -> Json:
        """The value of a field; ``None`` when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Group:
    """One row of the result."""

    columns: dict[str, Json]

    def value(self, name: str) -> Json:
        """A column of the row."""
        return self.columns.get(name)


def aggregate(command: Stats, rows: Sequence[Row]) -> list[Group]:
    """Group the rows and compute each statistic; without ``by`` there is one group."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    keys: dict[tuple[str, ...], list[Json]] = {}
    for row in rows:
        values = [_key(each, row) for each in command.by]
        identity = tuple(map(repr, values))
        keys.setdefault(identity, values)
        groups.setdefault(identity, []).append(row)
    labels = [each.label for each in command.by]
    return [
        Group(
            dict(zip(labels, keys[identity], strict=True))
            | {each.label: _statistic(each, members) for each in command.statistics}
        )
        for identity, members in groups.items()
    ]


def _key(grouping: Column, row: Row) -> Json:
    if isinstance(grouping, Field):
        return row.value(grouping.name)
    if grouping.function == "alias":
        return value_of(_argument(grouping), row)
    match = re.fullmatch(r"(\d+)(ms|s|m|h|d)", str(next(iter(grouping.arguments), "")))
    if grouping.function != "bin" or match is None:
        raise QueryError(f"stats: cannot group by {grouping.label}; bin() takes a duration such as 5m")
    width = int(match[1]) * _UNIT_MS[match[2]]
    start = int(_time(row)) // width * width
    return datetime.fromtimestamp(start / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _time(row: Row) -> float:
    value = row.value("@timestamp")
    return float(value) if isinstance(value, int | float) else 0.0


def value_of(operand: Operand, row: Row) -> Json:
    """What a field, a literal, ``coalesce`` or arithmetic of those is in a row."""
    if isinstance(operand, Field):
        return row.value(operand.name)
    if isinstance(operand, str | int | float):
        return operand
    if isinstance(operand, Function) and operand.function == "coalesce":
        values = (value_of(each, row) for each in operand.arguments)
        return next((each for each in values if each is not None), None)
    if isinstance(operand, Function) and operand.function in ARITHMETIC:
        return _computed(operand, row)
    raise QueryError(f"{operand} is not a value of a row")


def _computed(operand: Function, row: Row) -> float | None:
    # What is computed from nothing is nothing; the documentation does not say so, nor anything else.
    numbers = [each for each in (value_of(argument, row) for argument in operand.arguments) if _is_number(each)]
    if len(numbers) < len(operand.arguments):
        return None
    try:
        return float(ARITHMETIC[operand.function](*numbers))
    except ZeroDivisionError:
        return None


def _is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _argument(function: Function) -> Operand:
    argument = next(iter(function.arguments), None)
    if not isinstance(argument, Field | Function):
        raise QueryError(f"{function.label}: its first argument is not a field")
    return argument


def _statistic(wanted: Column, rows: Sequence[Row]) -> Json:
    if isinstance(wanted, Field) or wanted.function in ("bin", "alias", "coalesce"):
        raise QueryError(f"stats: {wanted.label!r} is not a statistic")
    if wanted.function == "count" and not wanted.arguments:
        return len(rows)
    argument = _argument(wanted)
    found = [(_time(row), value_of(argument, row)) for row in rows]
    present = [(at, value) for at, value in found if value is not None]
    if wanted.function in ("count", "count_distinct"):
        values = [repr(value) for _, value in present]
        return len(set(values)) if wanted.function == "count_distinct" else len(values)
    if wanted.function in ("latest", "earliest"):
        pick = max if wanted.function == "latest" else min
        return pick(present, key=lambda each: each[0])[1] if present else None
    return _of_numbers(wanted, [float(value) for _, value in present if isinstance(value, int | float)])


def _of_numbers(wanted: Function, numbers: list[float]) -> float | None:
    if not numbers:
        return None
    if wanted.function == "avg":
        return sum(numbers) / len(numbers)
    if wanted.function == "sum":
        return sum(numbers)
    if wanted.function == "pct":
        percent = wanted.arguments[1] if len(wanted.arguments) == 2 else None
        if not isinstance(percent, float):
            raise QueryError(f"{wanted.label}: pct takes a field and a percentage")
        return sorted(numbers)[max(math.ceil(percent / 100 * len(numbers)) - 1, 0)]
    return max(numbers) if wanted.function == "max" else min(numbers)
