"""Rows that a query makes of rows: with the names that ``fields`` gave, and one for each element of a list.

Source: "fields", "unnest" and the structure types (``jsonParse``, ``jsonStringify``) of the Logs Insights query syntax.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from local.emulator.logs.events import Event, at_path
from local.emulator.logs.insights_nodes import Column, Field, Function, Json, QueryError
from local.emulator.logs.insights_stats import ARITHMETIC, Group, value_of


@dataclass(frozen=True, slots=True)
class Derived:
    """An event with more fields than it came with."""

    event: "Event | Derived"
    more: Mapping[str, Json]

    @property
    def timestamp(self) -> int:
        """Milliseconds, of the event."""
        return self.event.timestamp

    @property
    def pointer(self) -> str:
        """The event's."""
        return self.event.pointer

    def value(self, name: str) -> Json:
        """A field that was added, a path into one, or a field of the event."""
        head, _, path = name.partition(".")
        if name in self.more:
            return self.more[name]
        return at_path(self.more[head], path) if head in self.more else self.event.value(name)


def derived(
    columns: Sequence[Column], rows: Sequence["Event | Derived | Group"]
) -> "Sequence[Event | Derived | Group]":
    """The rows, each knowing its fields by the names that ``as`` gives them."""
    named = [column for column in columns if isinstance(column, Function)]
    if not named:
        return rows
    return [
        row if isinstance(row, Group) else Derived(row, {column.label: _made(column, row) for column in named})
        for row in rows
    ]


def unnested(
    source: Field, name: str, rows: Sequence["Event | Derived | Group"]
) -> "Sequence[Event | Derived | Group]":
    """A row for each element; what is no list counts as a list of one, and what is absent as an empty one."""
    found: list[Event | Derived | Group] = []
    for row in rows:
        if isinstance(row, Group):
            raise QueryError("unnest: a row of stats has no list")
        value = row.value(source.name)
        elements = value if isinstance(value, list) else [] if value is None else [value]
        found += [Derived(row, {name: _json(element)}) for element in elements]
    return found


def _made(column: Function, row: "Event | Derived") -> Json:
    argument = next(iter(column.arguments), None)
    if argument is None:
        raise QueryError(f"fields: {column.label!r} needs a field")
    match column.function:
        case "alias":
            return value_of(argument, row)
        case "coalesce":
            return value_of(column, row)
        case "jsonparse":
            return _parsed(value_of(argument, row))
        case "jsonstringify":
            value = value_of(argument, row)
            return None if value is None else json.dumps(value)
    if column.function in ARITHMETIC:
        return value_of(column, row)
    raise QueryError(f"fields: {column.label!r} is not served here")


def _parsed(value: Json) -> Json:
    try:
        return _json(json.loads(value)) if isinstance(value, str) else None
    except ValueError:
        return None


def _json(value: object) -> Json:
    return value if isinstance(value, dict | list | str | int | float) else None
