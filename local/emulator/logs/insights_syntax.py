"""The grammar of Logs Insights queries: commands between pipes, conditions, and statistics.

Source: "CloudWatch Logs Insights language query syntax". Served: fields, display, filter, stats, sort, limit, dedup,
unnest; and arithmetic, with ``now``, ``toMillis`` and ``floor`` ("Boolean, comparison, numeric, datetime, and other
functions").
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

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
    Junction,
    Limit,
    Operand,
    QueryError,
    Sort,
    Stats,
    Unnest,
)
from local.emulator.logs.insights_tokens import Token, tokens_of

Item = TypeVar("Item")
COMMANDS: Final = ("fields", "display", "filter", "stats", "sort", "limit", "dedup", "unnest")
_STATISTICS: Final = ("count", "count_distinct", "avg", "max", "min", "sum", "pct", "latest", "earliest")
FUNCTIONS: Final = (*_STATISTICS, "bin", "coalesce", "jsonparse", "jsonstringify", "floor", "tomillis", "now")
_SUMS: Final = ("+", "-")
_PRODUCTS: Final = ("*", "/", "%")


def parse(text: str, now: float = 0.0) -> list[Command]:
    """The commands of a query that begins at ``now``, in epoch seconds; raises ``QueryError``."""
    return _Parser(tokens_of(text), now).commands()


class _Parser:
    def __init__(self, tokens: list[Token], now: float) -> None:
        self._tokens, self._now = tokens, now
        self._at = 0

    def _peek(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _accept(self, *words: str) -> str:
        kind, value = self._peek()
        if kind in ("name", "mark") and value.lower() in words:
            self._at += 1
            return value.lower()
        return ""

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise QueryError(f"expected {word!r} at {self._peek()[1] or 'the end'!r}")

    def commands(self) -> list[Command]:
        """All commands, in order."""
        found = [self._command()]
        while self._accept("|"):
            found.append(self._command())
        if self._peek()[0] != "end":
            raise QueryError(f"unexpected symbol {self._peek()[1]!r}")
        return found

    def _command(self) -> Command:
        name = self._accept(*COMMANDS)
        makers: dict[str, Callable[[], Command]] = {
            "filter": lambda: Filter(self._or()),
            "limit": lambda: Limit(self._count()),
            "sort": lambda: Sort(self._list(self._sort_key)),
            "dedup": lambda: Dedup(self._list(self._column)),
            "stats": self._stats,
            "unnest": self._unnest,
            "fields": lambda: Fields(self._list(self._column), only=False),
            "display": lambda: Fields(self._list(self._column), only=True),
        }
        if name not in makers:
            raise QueryError(f"unknown command {self._peek()[1] or 'nothing'!r}; served are {', '.join(COMMANDS)}")
        return makers[name]()

    def _stats(self) -> Stats:
        statistics = self._list(self._column)
        return Stats(statistics, self._list(self._column) if self._accept("by") else ())

    def _unnest(self) -> Unnest:
        source = self._operand()
        if not isinstance(source, Field):
            raise QueryError(f"unnest: {source!r} is not a field")
        self._expect("into")
        return Unnest(source, self._take()[1])

    def _count(self) -> int:
        kind, value = self._take()
        if kind != "number" or not value.isdigit():
            raise QueryError(f"limit: {value or 'nothing'!r} is not a number of rows")
        return int(value)

    def _list(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        items = [item()]
        while self._accept(","):
            items.append(item())
        return tuple(items)

    def _sort_key(self) -> tuple[Column, bool]:
        key = self._column()
        return key, self._accept("asc", "desc") == "desc"

    def _column(self) -> Column:
        """A field or a function, with an optional ``as`` name."""
        value = self._operand()
        if not isinstance(value, Field | Function):
            raise QueryError(f"{value!r} is not a field")
        if not self._accept("as"):
            return value
        label = self._take()[1].strip("`")
        return replace(value, label=label) if isinstance(value, Function) else Function("alias", (value,), label)

    def _or(self) -> Condition:
        conditions = [self._and()]
        while self._accept("or"):
            conditions.append(self._and())
        return conditions[0] if len(conditions) == 1 else Junction("or", tuple(conditions))

    def _and(self) -> Condition:
        conditions = [self._not()]
        while self._accept("and"):
            conditions.append(self._not())
        return conditions[0] if len(conditions) == 1 else Junction("and", tuple(conditions))

    def _not(self) -> Condition:
        if self._accept("not"):
            return Junction("not", (self._not(),))
        if self._accept("("):
            inner = self._or()
            self._expect(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        left = self._operand()
        negated = bool(self._accept("not"))
        operator = self._accept("=", "!=", "<", "<=", ">", ">=", "like", "=~", "in")
        if not operator:
            raise QueryError(f"expected a comparison at {self._peek()[1] or 'the end'!r}")
        right: tuple[Operand, ...]
        if operator == "in":
            self._expect("[")
            right = self._list(self._operand)
            self._expect("]")
        else:
            right = (self._operand(),)
        comparison = Comparison(left, "like" if operator == "=~" else operator, right)
        return Junction("not", (comparison,)) if negated else comparison

    def _operand(self) -> Operand:
        return self._chain(lambda: self._chain(self._atom, _PRODUCTS), _SUMS)

    def _chain(self, part: Callable[[], Operand], operators: tuple[str, ...]) -> Operand:
        """Parts between operators of one rank, from the left."""
        found = part()
        while sign := self._accept(*operators):
            right = part()
            found = Function(sign, (found, right), f"{_shown(found)} {sign} {_shown(right)}")
        return found

    def _atom(self) -> Operand:
        if self._accept("("):
            inner = self._operand()
            self._expect(")")
            return inner
        kind, value = self._take()
        if kind == "number":
            return float(value)
        if kind == "string":
            return value[1:-1]
        if kind == "regex":
            return re.compile(value[1:-1])
        if kind == "duration":
            return value
        if kind not in ("name", "quoted"):
            raise QueryError(f"unexpected symbol {value or 'the end'!r}")
        return self._call(value) if kind == "name" and self._accept("(") else Field(value.strip("`"))

    def _call(self, name: str) -> Function | float:
        function = name.lower()
        if function not in FUNCTIONS:
            raise QueryError(f"unknown function {name!r}; served are {', '.join(FUNCTIONS)}")
        arguments: tuple[Operand, ...] = ()
        if not self._accept("*") and self._peek()[1] != ")":
            arguments = self._list(self._operand)
        self._expect(")")
        if function == "now":
            return self._now
        return Function(function, arguments, f"{name}({', '.join(map(_shown, arguments)) or '*'})")


def _shown(argument: Operand) -> str:
    if isinstance(argument, Field | Function):
        return argument.label
    return f"{argument:g}" if isinstance(argument, float) else str(argument)
