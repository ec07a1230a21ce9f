"""The grammar of metric math expressions: text to a tree of nodes, which ``functions`` evaluates.

Source: "Using math expressions with CloudWatch metrics" in the CloudWatch User Guide.
"""

import re
from dataclasses import dataclass
from typing import Final

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<string>'[^']*'|\"[^\"]*\")|(?P<mark><=|>=|==|!=|&&|\|\||[-+*/^(),<>\[\]]))"
)
_LEVELS: Final = (
    {"OR": "OR", "||": "OR"},
    {"AND": "AND", "&&": "AND"},
    {mark: mark for mark in ("<", ">", "<=", ">=", "==", "!=")},
    {"+": "+", "-": "-"},
    {"*": "*", "/": "/"},
    {"^": "^"},
)


# Words that stand where an Id could: how to fill.
KEYWORDS: Final = frozenset({"REPEAT", "LINEAR"})


class MathError(ValueError):
    """An expression that cannot be parsed or evaluated; the message names the part."""


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted string, an argument of a function."""

    value: str


@dataclass(frozen=True, slots=True)
class Reference:
    """The Id of another query, or a keyword such as REPEAT."""

    name: str


@dataclass(frozen=True, slots=True)
class Negation:
    """A minus sign before an operand."""

    operand: "Node"


@dataclass(frozen=True, slots=True)
class Operation:
    """Two operands and the operator between them."""

    operator: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments."""

    function: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Array:
    """Several time series between square brackets."""

    items: tuple["Node", ...]


Node = Number | Text | Reference | Negation | Operation | Call | Array


def parse(expression: str) -> Node:
    """Parse an expression; raises ``MathError``."""
    parser = _Parser(expression)
    node = parser.binary(0)
    parser.expect_end()
    return node


def references(node: Node) -> frozenset[str]:
    """The Ids, and the keywords, that an expression names."""
    match node:
        case Reference(name):
            return frozenset({name})
        case Negation(operand):
            return references(operand)
        case Operation(_, left, right):
            return references(left) | references(right)
        case Call(_, children) | Array(children):
            return frozenset[str]().union(*(references(child) for child in children))
        case _:
            return frozenset()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def _next(self) -> tuple[str, str, int]:
        match = _TOKEN.match(self._text, self._at)
        if match is None or match.lastgroup is None:
            return "end", "", self._at
        return match.lastgroup, match[match.lastgroup], match.end()

    def _accept(self, token: str) -> bool:
        _, value, end = self._next()
        if value != token:
            return False
        self._at = end
        return True

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            raise self._error(f"expected {token!r}")

    def _error(self, why: str) -> MathError:
        return MathError(f"metric math {self._text!r}: {why} at {self._text[self._at :][:20]!r}")

    def expect_end(self) -> None:
        """Refuse anything after the expression."""
        if self._text[self._at :].strip():
            raise self._error("unexpected")

    def binary(self, level: int) -> Node:
        """Operators of one precedence, left to right; the loosest is level 0."""
        if level == len(_LEVELS):
            return self._unary()
        left = self.binary(level + 1)
        while True:
            _, value, end = self._next()
            if value not in _LEVELS[level]:
                return left
            self._at = end
            left = Operation(_LEVELS[level][value], left, self.binary(level + 1))

    def _unary(self) -> Node:
        if self._accept("-"):
            return Negation(self._unary())
        return self._primary()

    def _primary(self) -> Node:
        kind, value, end = self._next()
        if value == "(":
            self._at = end
            inner = self.binary(0)
            self._expect(")")
            return inner
        if value == "[":
            self._at = end
            return Array(self._items("]"))
        if kind not in ("number", "string", "word"):
            raise self._error("expected a number, a metric id, a function or '('")
        self._at = end
        if kind == "number":
            return Number(float(value))
        if kind == "string":
            return Text(value[1:-1])
        return Call(value.upper(), self._items(")")) if self._accept("(") else Reference(value)

    def _items(self, closing: str) -> tuple[Node, ...]:
        items: list[Node] = []
        if self._accept(closing):
            return ()
        while True:
            items.append(self.binary(0))
            if self._accept(closing):
                return tuple(items)
            self._expect(",")
