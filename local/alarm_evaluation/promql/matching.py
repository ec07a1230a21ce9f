"""Operators between two sides that are series: which belong together, and what the result is called.

Source: Prometheus, "Vector matching" of "Operators", and ``VectorBinop``, ``VectorAnd`` and ``resultMetric`` of its
engine.
"""

from functools import lru_cache
from typing import Final

from local.alarm_evaluation.promql.nodes import NAME, Binary, Labels, Matching, PromqlError, Vector, labels_of
from local.alarm_evaluation.promql.operators import ARITHMETIC, COMPARISONS, SETS

_KEPT: Final = 65_536


@lru_cache(maxsize=_KEPT)
def only(labels: Labels, names: tuple[str, ...]) -> Labels:
    """Those of ``labels`` that are named."""
    return tuple(pair for pair in labels if pair[0] in names)


@lru_cache(maxsize=_KEPT)
def without(labels: Labels, names: tuple[str, ...]) -> Labels:
    """``labels`` without the named ones and the metric's name."""
    return tuple(pair for pair in labels if pair[0] != NAME and pair[0] not in names)


def nameless(labels: Labels) -> Labels:
    """``labels`` without the metric's name."""
    return without(labels, ())


def unique(pairs: list[tuple[Labels, float]]) -> Vector:
    """The result of an operation.

    Raises:
        PromqlError: two of its series have the same labels.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise PromqlError("PromQL: vector cannot contain metrics with the same labelset")
    return found


def shown(labels: Labels) -> str:
    """Labels as Prometheus writes them."""
    return "{" + ", ".join(f'{name}="{value}"' for name, value in labels) + "}"


def sides(node: Binary, left: Vector, right: Vector) -> Vector:
    """``left operator right``.

    Raises:
        PromqlError: several series of a side that may have one only belong to the same series of the other.
    """
    if node.operator in SETS:
        return _set(node.operator, node.matching, left, right)
    if not left or not right:
        return {}
    if node.matching.many == "right":
        return _joined(node, right, left, swapped=True)
    return _joined(node, left, right, swapped=False)


def with_number(node: Binary, vector: Vector, number: float, *, swapped: bool) -> Vector:
    """Each series against a number, which is on the left where ``swapped``."""
    compares = COMPARISONS.get(node.operator)
    if compares is None:
        calculates = ARITHMETIC[node.operator]
        return unique(
            [
                (nameless(labels), calculates(number, value) if swapped else calculates(value, number))
                for labels, value in vector.items()
            ]
        )
    held = [
        (labels, value, compares(number, value) if swapped else compares(value, number))
        for labels, value in vector.items()
    ]
    if node.is_bool:
        return unique([(nameless(labels), float(holds)) for labels, _, holds in held])
    return {labels: value for labels, value, holds in held if holds}


def numbers(operator: str, left: float, right: float) -> float:
    """Between two numbers; a comparison gives 0 or 1."""
    if operator in COMPARISONS:
        return float(COMPARISONS[operator](left, right))
    return ARITHMETIC[operator](left, right)


def _group(labels: Labels, matching: Matching) -> Labels:
    return only(labels, matching.labels) if matching.on else without(labels, matching.labels)


def _set(operator: str, matching: Matching, left: Vector, right: Vector) -> Vector:
    if operator == "or":
        taken = {_group(labels, matching) for labels in left}
        return left | {labels: value for labels, value in right.items() if _group(labels, matching) not in taken}
    others = {_group(labels, matching) for labels in right}
    wanted = operator == "and"
    return {labels: value for labels, value in left.items() if (_group(labels, matching) in others) == wanted}


def _joined(node: Binary, many: Vector, one: Vector, *, swapped: bool) -> Vector:
    """Each of ``many`` with the one that belongs to it."""
    partners: dict[Labels, tuple[Labels, float]] = {}
    for labels, value in one.items():
        group = _group(labels, node.matching)
        if group in partners:
            raise PromqlError(f"PromQL: found duplicate series for the match group {shown(group)}: many-to-many")
        partners[group] = (labels, value)
    pairs: list[tuple[Labels, float]] = []
    seen: set[object] = set()
    for labels, value in many.items():
        group = _group(labels, node.matching)
        partner = partners.get(group)
        if partner is None:
            continue
        result = _value(node, (partner[1], value) if swapped else (value, partner[1]))
        if result is None:
            continue
        metric = _metric(node, labels, partner[0])
        mark = group if node.matching.many is None else (group, metric)
        if mark in seen:
            raise PromqlError(f"PromQL: multiple matches for labels {shown(group)}")
        seen.add(mark)
        pairs.append((metric, result))
    return unique(pairs)


def _value(node: Binary, both: tuple[float, float]) -> float | None:
    left, right = both
    compares = COMPARISONS.get(node.operator)
    if compares is None:
        return ARITHMETIC[node.operator](left, right)
    holds = compares(left, right)
    if node.is_bool:
        return float(holds)
    return left if holds else None


def _metric(node: Binary, many: Labels, one: Labels) -> Labels:
    matching = node.matching
    named = nameless(many) if node.operator in ARITHMETIC else many
    if matching.many is None:
        if matching.on:
            named = only(named, matching.labels)
        else:
            named = tuple(pair for pair in named if pair[0] not in matching.labels)
    if matching.included:
        theirs = dict(one)
        named = labels_of({**dict(named), **{name: theirs.get(name, "") for name in matching.included}})
    return nameless(named) if node.is_bool else named
