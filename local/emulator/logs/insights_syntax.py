"""The grammar of Logs Insights queries: commands between pipes, conditions, and statistics.

Source: "CloudWatch Logs Insights language query syntax". Served: fields, display, filter, stats, sort, limit, dedup.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

COMMANDS: Final = ("fields", "display", "filter", "stats", "sort", "limit", "dedup")
FUNCTIONS: Final = ("count", "count_distinct", "avg", "max", "min", "sum", "pct", "latest", "earliest", "bin")
_TOKEN = re.compile(
    r"\s*(?:(?P<regex>/(?:[^/\\]|\\.)+/)|(?P<string>\"[^\"]*\"|'[^']*')|(?P<number>-?\d+(?:\.\d+)?(?![\w.]))"
    r"|(?P<duration>\d+(?:ms|s|m|h|d)\b)|(?P<quoted>`[^`]+`)|(?P<mark>[!<>]=|=~|[=<>(),*\[\]|])"
    r"|(?P<name>@?[A-Za-z_][\w.\-]*))"
)


class QueryError(ValueError):
    """Syntax that Logs Insights does not have, or that is not served here; the message names it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event: ``@timestamp``, or a path into its JSON such as ``cores.utilization.0``."""

    name: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison, or ``and`` / ``or`` / ``not`` over conditions in ``operands``."""

    operator: str
    operands: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A statistic of ``stats``; ``label`` is its column."""

    function: str
    arguments: tuple[Any, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Command:
    """One part between pipes: its name and what follows, in a form that depends on the name."""

    name: str
    arguments: tuple[Any, ...] = ()
    by: tuple[Any, ...] = ()


def parse(text: str) -> list[Command]:
    """The commands of a query; raises ``QueryError``."""
    return _Parser(_tokens(text)).commands()


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    position = 0
    text = re.sub(r"#[^\n]*", "", text)
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise QueryError(f"unexpected symbol at {text[position:].strip()[:20]!r}")
        tokens.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self) -> tuple[str, str]:
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
        if name == "filter":
            return Command(name, (self._or(),))
        if name == "limit":
            return Command(name, (int(self._operand()),))
        if name == "sort":
            return Command(name, self._list(self._sort_key))
        if name == "stats":
            aggregates = self._list(self._aggregate)
            return Command(name, aggregates, self._list(self._aggregate) if self._accept("by") else ())
        if name:
            return Command(name, self._list(self._aggregate))
        raise QueryError(f"unknown command {self._peek()[1] or 'nothing'!r}; served are {', '.join(COMMANDS)}")

    def _list(self, item: Any) -> tuple[Any, ...]:
        items = [item()]
        while self._accept(","):
            items.append(item())
        return tuple(items)

    def _sort_key(self) -> tuple[Any, bool]:
        key = self._operand()
        return key, self._accept("asc", "desc") == "desc"

    def _aggregate(self) -> Any:
        """A field or a function, with an optional ``as`` name."""
        value = self._operand()
        if self._accept("as"):
            label = self._take()[1].strip("`")
            function = value if isinstance(value, Aggregate) else Aggregate("field", (value,), label)
            return Aggregate(function.function, function.arguments, label)
        return value

    def _or(self) -> Condition:
        operands = [self._and()]
        while self._accept("or"):
            operands.append(self._and())
        return operands[0] if len(operands) == 1 else Condition("or", tuple(operands))

    def _and(self) -> Condition:
        operands = [self._not()]
        while self._accept("and"):
            operands.append(self._not())
        return operands[0] if len(operands) == 1 else Condition("and", tuple(operands))

    def _not(self) -> Condition:
        if self._accept("not"):
            return Condition("not", (self._not(),))
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
        right: Any
        if operator == "in":
            self._expect("[")
            right = self._list(self._operand)
            self._expect("]")
        else:
            right = self._operand()
        condition = Condition("like" if operator == "=~" else operator, (left, right))
        return Condition("not", (condition,)) if negated else condition

    def _operand(self) -> Any:
        kind, value = self._take()
        if kind == "number":
            return float(value) if "." in value else int(value)
        if kind == "string":
            return value[1:-1]
        if kind == "regex":
            return re.compile(value[1:-1])
        if kind == "duration":
            return value
        if kind == "quoted":
            return Field(value[1:-1])
        if kind != "name":
            raise QueryError(f"unexpected symbol {value or 'the end'!r}")
        return self._call(value) if self._accept("(") else Field(value)

    def _call(self, name: str) -> Aggregate:
        function = name.lower()
        if function not in FUNCTIONS:
            raise QueryError(f"unknown function {name!r}; served are {', '.join(FUNCTIONS)}")
        arguments: tuple[Any, ...] = () if self._accept("*") or self._peek()[1] == ")" else self._list(self._operand)
        self._expect(")")
        shown = ", ".join(each.name if isinstance(each, Field) else str(each) for each in arguments) or "*"
        return Aggregate(function, arguments, f"{name}({shown})")
