"""An instant query: the value of an expression at a time.

Which samples a span holds is a parameter: Prometheus 3.0, which CloudWatch follows, leaves out one at the very start of
a range or of the lookback ("Prometheus 3.0 migration guide", "Range selectors and lookback exclude samples coinciding
with the left boundary"); up to 2.x it is in. Amazon CloudWatch User Guide, "PromQL querying": "follows the Prometheus
3.0 specification".
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from local.alarm_evaluation.promql.functions import CLAMPS, KEEPS_NAME, OVER_TIME, QUANTILE_OVER_TIME
from local.alarm_evaluation.promql.matching import nameless, numbers, only, sides, unique, with_number, without
from local.alarm_evaluation.promql.nodes import (
    Aggregation,
    Binary,
    Call,
    Labels,
    MatchKind,
    Negative,
    Node,
    Number,
    PromqlError,
    Range,
    Selector,
    Subquery,
    Vector,
)
from local.alarm_evaluation.promql.operators import AGGREGATIONS, quantile
from local.alarm_evaluation.promql.store import SeriesStore

LOOKBACK_SECONDS: Final = 300.0
Spans = list[tuple[Labels, Sequence[float]]]


class Evaluation:
    """Evaluates expressions over a store, at whichever time it is asked for."""

    def __init__(self, store: SeriesStore, *, left_open: bool = True, lookback: float = LOOKBACK_SECONDS) -> None:
        self._store = store
        self._left_open = left_open
        self._lookback = lookback
        self._by_node: dict[type, Callable[[Any, float], Vector | float]] = {
            Selector: self._newest,
            Number: lambda node, _: node.value,
            Call: self._call,
            Aggregation: self._aggregated,
            Binary: self._binary,
            Negative: self._negative,
        }
        self._by_function: dict[str, Callable[[Call, float], Vector | float]] = {
            **dict.fromkeys(OVER_TIME, self._over_time),
            **dict.fromkeys(CLAMPS, self._clamped),
            QUANTILE_OVER_TIME: self._quantile_over_time,
            "absent": self._absent,
            "absent_over_time": self._absent,
            "time": lambda _, at: at,
            "timestamp": self._timestamps,
            "vector": lambda call, at: {(): self._number(call.arguments[0], at)},
        }

    def vector(self, node: Node, at: float) -> Vector:
        """The series that ``node`` returns at unix second ``at``.

        Raises:
            PromqlError: it returns no series but a number, or Prometheus would refuse the result.
        """
        found = self._value(node, float(at))
        if isinstance(found, float):
            raise PromqlError("PromQL: the expression is a number, and an alarm needs series")
        return found

    def _value(self, node: Node, at: float) -> Vector | float:
        evaluates = self._by_node.get(type(node))
        if evaluates is None:
            raise PromqlError("PromQL: a range is read by a function, and is no value")
        return evaluates(node, at)

    def _number(self, node: Node, at: float) -> float:
        found = self._value(node, at)
        if isinstance(found, float):
            return found
        raise PromqlError("PromQL: a number is wanted where the expression has series")

    def _samples(self, node: Selector, at: float) -> list[tuple[Labels, float, float]]:
        until = at - node.offset
        found = []
        for series in self._store.select(node):
            newest = series.newest(until - self._lookback, until, left_open=self._left_open)
            if newest is not None:
                found.append((series.labels, *newest))
        return found

    def _newest(self, node: Selector, at: float) -> Vector:
        return {labels: value for labels, _, value in self._samples(node, at)}

    def _spans(self, node: Node, at: float) -> Spans:
        if isinstance(node, Range):
            until = at - node.selector.offset
            after = until - node.seconds
            series = self._store.select(node.selector)
            spans = [(each.labels, each.within(after, until, left_open=self._left_open)) for each in series]
            return [(labels, values) for labels, values in spans if values]
        if isinstance(node, Subquery):
            return self._subquery(node, at)
        raise PromqlError("PromQL: a function over time reads a range")

    def _subquery(self, node: Subquery, at: float) -> Spans:
        until = at - node.offset
        after = until - node.seconds
        # Steps are whole multiples of the step since 1970, whenever the query is asked.
        number = math.ceil(after / node.step)
        if self._left_open and number * node.step == after:
            number += 1
        found: dict[Labels, list[float]] = {}
        while number * node.step <= until:
            value = self._value(node.expression, number * node.step)
            vector = {(): value} if isinstance(value, float) else value
            for labels, each in vector.items():
                found.setdefault(labels, []).append(each)
            number += 1
        return list(found.items())

    def _call(self, node: Call, at: float) -> Vector | float:
        return self._by_function[node.function](node, at)

    def _over_time(self, node: Call, at: float) -> Vector:
        calculates = OVER_TIME[node.function]
        spans = self._spans(node.arguments[0], at)
        if node.function == KEEPS_NAME:
            return unique([(labels, calculates(values)) for labels, values in spans])
        return unique([(nameless(labels), calculates(values)) for labels, values in spans])

    def _quantile_over_time(self, node: Call, at: float) -> Vector:
        part = self._number(node.arguments[0], at)
        spans = self._spans(node.arguments[1], at)
        return unique([(nameless(labels), quantile(values, part)) for labels, values in spans])

    def _clamped(self, node: Call, at: float) -> Vector:
        bounds = [self._number(each, at) for each in node.arguments[1:]]
        if bounds[-1] < bounds[0]:
            return {}
        calculates = CLAMPS[node.function]
        vector = self.vector(node.arguments[0], at)
        return unique([(nameless(labels), calculates(value, *bounds)) for labels, value in vector.items()])

    def _timestamps(self, call: Call, at: float) -> Vector:
        node = call.arguments[0]
        if isinstance(node, Selector):
            return unique([(nameless(labels), when) for labels, when, _ in self._samples(node, at)])
        return unique([(nameless(labels), at) for labels in self.vector(node, at)])

    def _absent(self, call: Call, at: float) -> Vector:
        node = call.arguments[0]
        found = self._spans(node, at) if isinstance(node, Range | Subquery) else self.vector(node, at)
        return {} if found else {_told_of(node): 1.0}

    def _aggregated(self, node: Aggregation, at: float) -> Vector:
        calculates = AGGREGATIONS[node.operator]
        parameter = math.nan if node.parameter is None else self._number(node.parameter, at)
        groups: dict[Labels, list[float]] = {}
        for labels, value in self.vector(node.expression, at).items():
            group = without(labels, node.labels) if node.without else only(labels, node.labels)
            groups.setdefault(group, []).append(value)
        return {group: calculates(values, parameter) for group, values in groups.items()}

    def _binary(self, node: Binary, at: float) -> Vector | float:
        left, right = self._value(node.left, at), self._value(node.right, at)
        if isinstance(left, float):
            if isinstance(right, float):
                return numbers(node.operator, left, right)
            return with_number(node, right, left, swapped=True)
        if isinstance(right, float):
            return with_number(node, left, right, swapped=False)
        return sides(node, left, right)

    def _negative(self, node: Negative, at: float) -> Vector | float:
        found = self._value(node.expression, at)
        if isinstance(found, float):
            return -found
        return unique([(nameless(labels), -value) for labels, value in found.items()])


def _told_of(node: Node) -> Labels:
    """What is absent has the labels that its selector asks for by equality, once."""
    selector = node.selector if isinstance(node, Range) else node
    labels: dict[str, str] = {}
    if isinstance(selector, Selector):
        asked = [each.name for each in selector.matchers]
        for each in selector.matchers:
            if each.kind is MatchKind.EQUAL and each.value and asked.count(each.name) == 1:
                labels[each.name] = each.value
    return tuple(sorted(labels.items()))
