"""From an expression's text to its nodes: the library ``promql-parser`` reads it, what is not evaluated is refused.

Selectors name their metric, as a CloudWatch alarm's have to (Amazon CloudWatch User Guide, "PromQL querying"). Patterns
are those of RE2 in Prometheus; only what means the same in Python is taken.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from functools import singledispatch
from typing import Final

import promql_parser as ast

from local.alarm_evaluation.promql.functions import FUNCTIONS
from local.alarm_evaluation.promql.nodes import (
    NAME,
    Aggregation,
    Binary,
    Call,
    Matcher,
    Matching,
    MatchKind,
    Negative,
    Node,
    Number,
    PromqlError,
    Range,
    Selector,
    Subquery,
)
from local.alarm_evaluation.promql.operators import AGGREGATIONS, OPERATORS

_MOST_CHARACTERS: Final = 10_000
# Literals, dots, sets, groups, alternatives and repetition, which RE2 and Python read alike.
_PATTERN: Final = re.compile(r"(?:[\w\-. :/,|*+^$]|\((?!\?)|\)|\?(?!\?|\+)|\\[.\-/+*?|()\[\]]|\[\^?[\w\-.:/ ]+\])*")
# The library's constants can be compared and not hashed.
_KINDS: Final = (
    (ast.MatchOp.Equal, MatchKind.EQUAL),
    (ast.MatchOp.NotEqual, MatchKind.NOT_EQUAL),
    (ast.MatchOp.Re, MatchKind.REGEX),
    (ast.MatchOp.NotRe, MatchKind.NOT_REGEX),
)
_MANY: Final = ((ast.VectorMatchCardinality.ManyToOne, "left"), (ast.VectorMatchCardinality.OneToMany, "right"))


def parse(expression: str) -> Node:
    """The nodes of ``expression``.

    Raises:
        PromqlError: it is no PromQL, or says something that is not evaluated here.
    """
    if len(expression) > _MOST_CHARACTERS:
        raise PromqlError(f"PromQL: {len(expression)} characters, and CloudWatch takes {_MOST_CHARACTERS}")
    try:
        parsed = ast.parse(expression)
    except ValueError as error:
        raise PromqlError(f"PromQL: {error}: {expression}") from error
    return _node(parsed)


@singledispatch
def _node(parsed: ast.Expr) -> Node:
    raise _refused(f"{type(parsed).__name__} {parsed.prettify().strip()}", [])


def _refused(what: str, known: Sequence[str]) -> PromqlError:
    return PromqlError(f"PromQL: {what} is not evaluated here" + (f", but {', '.join(known)}" if known else ""))


@_node.register
def _selector(parsed: ast.VectorSelector) -> Selector:
    if parsed.at is not None:
        raise _refused("the modifier @", [])
    if parsed.matchers.or_matchers:
        raise _refused("'or' within a selector", [])
    matchers = [_matcher(each) for each in parsed.matchers.matchers]
    named = [each for each in matchers if each.name == NAME]
    names = [each.value for each in named if each.kind is MatchKind.EQUAL] + ([parsed.name] if parsed.name else [])
    if len(names) != 1 or len(named) > 1 or (parsed.name and named):
        raise _refused("a selector that does not name its metric", [])
    rest = tuple(each for each in matchers if each.name != NAME)
    return Selector(names[0], rest, _seconds(parsed.offset))


def _matcher(parsed: ast.Matcher) -> Matcher:
    kind = next(kind for theirs, kind in _KINDS if parsed.op == theirs)
    pattern = None
    if kind in {MatchKind.REGEX, MatchKind.NOT_REGEX}:
        if _PATTERN.fullmatch(parsed.value) is None:
            raise _refused(f"the pattern {parsed.value!r}", ["literals", ". * + ?", "sets", "alternatives"])
        pattern = re.compile(parsed.value)
    return Matcher(parsed.name, kind, parsed.value, pattern)


def _seconds(duration: timedelta | None) -> float:
    return 0.0 if duration is None else duration.total_seconds()


@_node.register
def _range(parsed: ast.MatrixSelector) -> Range:
    return Range(_selector(parsed.vector_selector), _seconds(parsed.range))


@_node.register
def _subquery(parsed: ast.SubqueryExpr) -> Subquery:
    if parsed.at is not None:
        raise _refused("the modifier @", [])
    if parsed.step is None:
        raise _refused("a subquery without a step", ["[10m:1m]"])
    return Subquery(_node(parsed.expr), _seconds(parsed.range), _seconds(parsed.step), _seconds(parsed.offset))


@_node.register
def _call(parsed: ast.Call) -> Call:
    name = parsed.func.name
    if name not in FUNCTIONS:
        raise _refused(f"{name}()", sorted(FUNCTIONS))
    return Call(name, tuple(_node(each) for each in parsed.args))


@_node.register
def _aggregation(parsed: ast.AggregateExpr) -> Aggregation:
    operator = str(parsed.op)
    if operator not in AGGREGATIONS:
        raise _refused(f"the aggregation {operator}", sorted(AGGREGATIONS))
    labels: tuple[str, ...] = ()
    without = False
    if parsed.modifier is not None:
        labels = tuple(sorted(set(parsed.modifier.labels)))
        without = parsed.modifier.type == ast.AggModifierType.Without
    parameter = None if parsed.param is None else _node(parsed.param)
    return Aggregation(operator, _node(parsed.expr), labels, without, parameter)


@_node.register
def _binary(parsed: ast.BinaryExpr) -> Binary:
    operator = str(parsed.op)
    if operator not in OPERATORS:
        raise _refused(f"the operator {operator}", sorted(OPERATORS))
    modifier = parsed.modifier
    left, right = _node(parsed.lhs), _node(parsed.rhs)
    if modifier is None:
        return Binary(operator, left, right)
    filled = modifier.fill_values
    if filled is not None and (filled.lhs is not None or filled.rhs is not None):
        raise _refused("fill()", [])
    on = False
    labels: tuple[str, ...] = ()
    if modifier.matching is not None:
        on = modifier.matching.type == ast.LabelModifierType.Include
        labels = tuple(sorted(set(modifier.matching.labels)))
    many = next((side for card, side in _MANY if modifier.card == card), None)
    included = tuple(modifier.group_labels or ())
    return Binary(operator, left, right, Matching(on, labels, many, included), bool(modifier.return_bool))


@_node.register
def _number(parsed: ast.NumberLiteral) -> Number:
    return Number(parsed.val)


@_node.register
def _inner(parsed: ast.ParenExpr) -> Node:
    return _node(parsed.expr)


@_node.register
def _negative(parsed: ast.UnaryExpr) -> Negative:
    return Negative(_node(parsed.expr))
