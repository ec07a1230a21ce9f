"""The parts of a parsed Logs Insights query."""

import re
from dataclasses import dataclass

Json = dict[str, object] | list[object] | str | float | bool | None


class QueryError(ValueError):
    """Syntax that Logs Insights does not have, or that is not served here; the message names it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event: ``@timestamp``, or a path into its JSON such as ``cores.utilization.0``."""

    name: str

    @property
    def label(self) -> str:
        """Its column in the result."""
        return self.name


@dataclass(frozen=True, slots=True)
class Function:
    """A statistic of ``stats``, ``bin()``, or (``alias``) a field under another name; ``label`` is its column."""

    function: str
    arguments: tuple["Operand", ...]
    label: str


Column = Field | Function
Operand = Field | Function | str | float | re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right``; several on the right for ``in``."""

    left: Operand
    operator: str
    right: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Junction:
    """``and``, ``or`` or ``not`` over conditions."""

    operator: str
    conditions: tuple["Condition", ...]


Condition = Comparison | Junction


@dataclass(frozen=True, slots=True)
class Fields:
    """``fields`` and ``display``: the columns to show."""

    columns: tuple[Column, ...]
    only: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """``filter``."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Stats:
    """``stats … by …``."""

    statistics: tuple[Column, ...]
    by: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Sort:
    """``sort``: columns, each with whether it is descending."""

    keys: tuple[tuple[Column, bool], ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """``limit``."""

    rows: int


@dataclass(frozen=True, slots=True)
class Dedup:
    """``dedup``: the first row for each combination of the columns."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Unnest:
    """``unnest``: a row for each element of a list, which is then called ``name``."""

    source: Field
    name: str


Command = Fields | Filter | Stats | Sort | Limit | Dedup | Unnest
