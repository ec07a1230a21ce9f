"""The queries of one request or alarm: metrics first, then expressions in the order of what they refer to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from local.alarm_evaluation.metric_math.functions import Grid
from local.alarm_evaluation.metric_math.syntax import KEYWORDS, MathError, Node, parse, references
from local.alarm_evaluation.metric_math.values import Labelled, Value
from local.alarm_evaluation.statistics import SeriesKey, SeriesSource

MINUTE = 60


@dataclass(frozen=True, slots=True)
class MetricStat:
    """One statistic of one metric per ``period`` seconds."""

    key: SeriesKey
    statistic: str
    period: int = MINUTE
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A MetricDataQuery: a metric, or an expression over the other queries' Ids.

    ``period`` is what an expression asks to be evaluated at, in seconds.
    """

    id: str
    asks: MetricStat | str
    returns: bool = True
    period: int | None = None


Search = Callable[[str, str, int, int, int], list[Labelled]]
"""Answers SEARCH(expression, statistic) over start, end and period in seconds."""


def evaluate_queries(
    source: SeriesSource, queries: Sequence[Query], start: int, end: int, search: Search | None = None
) -> dict[str, Value]:
    """Each query's value by Id over ``[start, end)``, in periods that begin at ``start``.

    Raises:
        MathError: an expression cannot be parsed or evaluated, or refers to itself or to nothing.
    """
    period = common_period(queries)
    values: dict[str, Value] = {
        query.id: source.values(query.asks.key, query.asks.statistic, start, end, query.asks.period, query.asks.unit)
        for query in queries
        if isinstance(query.asks, MetricStat)
    }

    def searched(text: str, statistic: str) -> list[Labelled]:
        if search is None:
            raise MathError("metric math: an alarm cannot use SEARCH")
        return search(text, statistic, start, end, period)

    grid = Grid(tuple(range(start, end, period)), period, values, tuple(values), searched)
    for query, node in _in_order(queries):
        values[query.id] = grid.evaluate(node)
    return values


def common_period(queries: Sequence[Query]) -> int:
    """The period that expressions are evaluated at, in seconds: the longest that any of the queries has."""
    periods = [query.asks.period for query in queries if isinstance(query.asks, MetricStat)]
    return max(periods + [query.period for query in queries if query.period], default=MINUTE)


def _in_order(queries: Sequence[Query]) -> list[tuple[Query, Node]]:
    known = {query.id for query in queries if isinstance(query.asks, MetricStat)}
    waiting = [(query, _parsed(query.asks)) for query in queries if isinstance(query.asks, str)]
    ordered: list[tuple[Query, Node]] = []
    while waiting:
        ready = [(query, node) for query, node in waiting if references(node) - KEYWORDS <= known]
        if not ready:
            name = waiting[0][0].id
            raise MathError(f"expression {name!r} refers to a query that does not exist, or to itself")
        known |= {query.id for query, _ in ready}
        ordered += ready
        waiting = [each for each in waiting if each not in ready]
    return ordered


@cache
def _parsed(expression: str) -> Node:
    return parse(expression)
