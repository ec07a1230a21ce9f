"""One refresh: every source is asked, what it says is held against what is kept, and what it does not say is noted.

One source that fails takes nothing from the others. A price that could not be refreshed stays, as old as it is, with
the reason beside it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from fleet.instances import Price, catalogue
from fleet.prices.age import staleness
from fleet.prices.record import PriceRecord, adopt
from lambdas.prices.source import Question, Reading, Source
from lambdas.prices.table import PriceTable

_UNKNOWN: Final = "the source failed"


@dataclass(frozen=True, slots=True)
class Refresh:
    """What became of it: keys of prices that are of today, one line for each problem, and for what AWS has no price."""

    adopted: tuple[str, ...]
    problems: tuple[str, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Whom the refresh asks, and where it keeps what they answer."""

    sources: Sequence[Source]
    table: PriceTable


class NothingRefreshedError(Exception):
    """Not one price could be read or kept."""


def refresh(aws: Dependencies, question: Question) -> Refresh:
    """Ask everybody, keep what is new.

    Raises:
        NothingRefreshedError: there is nothing new at all, and not because AWS has no prices.
    """
    with ThreadPoolExecutor(max_workers=len(aws.sources)) as pool:
        readings = list(pool.map(lambda source: _read(source, question), aws.sources))
    kept, problems = aws.table.read()
    lines = list(problems)
    adopted: list[str] = []
    for source, reading in zip(aws.sources, readings, strict=True):
        lines += [f"{source.name}: {name or 'every type'}: {why}" for name, why in reading.problems]
        for record in _changed(source, reading, kept, question):
            failure = _put(aws.table, record)
            if failure or record.held:
                lines.append(f"{record.key}: {failure or record.problem}")
            elif record.problem is None:
                adopted.append(record.key)
    if not adopted and lines:
        raise NothingRefreshedError(f"no price could be refreshed: {lines[0]} (and {len(lines) - 1} more)")
    absent = [
        f"{source.name}: {name}: {why}"
        for source, reading in zip(aws.sources, readings, strict=True)
        for name, why in reading.absent
    ]
    return Refresh(tuple(adopted), tuple(lines), tuple(absent))


def _read(source: Source, question: Question) -> Reading:
    try:
        return source.read(question)
    except Exception as error:
        # Whatever it is, the other sources are asked and their prices kept.
        return Reading(problems=(("", f"{_UNKNOWN}: {type(error).__name__}: {error}"),))


def _changed(
    source: Source, reading: Reading, kept: Mapping[str, PriceRecord], question: Question
) -> Iterator[PriceRecord]:
    found = {record.key for record in reading.found}
    for record in reading.found:
        yield adopt(kept.get(record.key), record, _default(record, question))
    asked = {known.name for known in question.types}
    for key, record in kept.items():
        if record.price.kind.value not in source.kinds or key in found or record.instance_type not in asked:
            continue
        why = reading.reason(record.instance_type) or "AWS does not list it any more"
        yield replace(record, read_at=question.read_at, problem=why)


def _default(record: PriceRecord, question: Question) -> Price | None:
    """The embedded price that a first figure is held against. One that is stale says nothing about a wild change."""
    region = record.price.region.partition(" ")[0]
    known: Iterable[Price] = catalogue()[record.instance_type].prices
    same = [p for p in known if p.kind is record.price.kind and p.region.partition(" ")[0] == region]
    fresh = [p for p in same if staleness(p, question.now.date()) is None]
    return max(fresh, key=lambda price: price.as_of, default=None)


def _put(table: PriceTable, record: PriceRecord) -> str | None:
    try:
        table.put(record)
    except Exception as error:
        # Whatever it is, the other prices are kept.
        return f"it could not be kept: {type(error).__name__}: {error}"
    return None
