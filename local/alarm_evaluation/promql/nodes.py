"""What an expression is made of, and what its evaluation gives."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

NAME: Final = "__name__"
Labels = tuple[tuple[str, str], ...]
"""Names and values in the order of the names; the metric's own name is ``__name__``."""
Vector = dict[Labels, float]


class PromqlError(ValueError):
    """An expression that is not evaluated here, or whose result Prometheus refuses."""


def labels_of(names: dict[str, str]) -> Labels:
    """The labels of a series; one without a value is none."""
    return tuple(sorted((name, value) for name, value in names.items() if value))


class MatchKind(StrEnum):
    """How a selector holds a label against a value."""

    EQUAL = "="
    NOT_EQUAL = "!="
    REGEX = "=~"
    NOT_REGEX = "!~"


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition of a selector. A label that a series has not is empty; a pattern has to match the whole value."""

    name: str
    kind: MatchKind
    value: str
    pattern: re.Pattern[str] | None = None

    def holds(self, value: str) -> bool:
        """Whether a series with this value is selected."""
        if self.pattern is not None:
            return (self.pattern.fullmatch(value) is not None) == (self.kind is MatchKind.REGEX)
        return (value == self.value) == (self.kind is MatchKind.EQUAL)


@dataclass(frozen=True, slots=True)
class Selector:
    """The newest sample of each matching series, ``offset`` seconds ago."""

    metric: str
    matchers: tuple[Matcher, ...]
    offset: float = 0.0

    def takes(self, labels: dict[str, str]) -> bool:
        """Whether a series of these labels is selected."""
        return labels.get(NAME) == self.metric and all(each.holds(labels.get(each.name, "")) for each in self.matchers)


@dataclass(frozen=True, slots=True)
class Range:
    """The samples of the last ``seconds``."""

    selector: Selector
    seconds: float


@dataclass(frozen=True, slots=True)
class Subquery:
    """The values of an expression in the last ``seconds``, worked out every ``step`` seconds."""

    expression: "Node"
    seconds: float
    step: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Number:
    """A literal."""

    value: float


@dataclass(frozen=True, slots=True)
class Call:
    """A function of its arguments."""

    function: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Aggregation:
    """One value for each group of series. ``without`` groups by all labels but those in ``labels``."""

    operator: str
    expression: "Node"
    labels: tuple[str, ...]
    without: bool
    parameter: "Node | None" = None


@dataclass(frozen=True, slots=True)
class Matching:
    """Which series of two sides belong together, and which side may have several for one (``group_left``)."""

    on: bool = False
    labels: tuple[str, ...] = ()
    many: str | None = None
    """``left``, ``right``, or None: one on each side."""
    included: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Binary:
    """Two sides and an operator; ``is_bool`` gives 0 and 1 in place of a choice."""

    operator: str
    left: "Node"
    right: "Node"
    matching: Matching = field(default_factory=Matching)
    is_bool: bool = False


@dataclass(frozen=True, slots=True)
class Negative:
    """The unary minus."""

    expression: "Node"


Node = Selector | Range | Subquery | Number | Call | Aggregation | Binary | Negative


def selectors_in(node: Node) -> tuple[tuple[Selector, float], ...]:
    """The series that an expression reads, and how many seconds before the evaluation the oldest of them counts."""
    if isinstance(node, Selector):
        return ((node, node.offset),)
    if isinstance(node, Range):
        return ((node.selector, node.selector.offset + node.seconds),)
    if isinstance(node, Subquery):
        back = node.seconds + node.offset
        return tuple((selector, seconds + back) for selector, seconds in selectors_in(node.expression))
    return tuple(found for child in _children(node) for found in selectors_in(child))


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Binary):
        return (node.left, node.right)
    if isinstance(node, Aggregation):
        return (node.expression,) if node.parameter is None else (node.parameter, node.expression)
    return (node.expression,) if isinstance(node, Negative) else ()
