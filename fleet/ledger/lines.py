"""The ledger: one line a day for whatever differs in who pays, for what, and at which price."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone
from typing import Any, Final

from fleet.ledger.amounts import UNITS
from fleet.ledger.node_minute import Category, JobPart, NodeMinute, PaidPrice
from fleet.ledger.reading import ReservedMinute


@dataclass(frozen=True, slots=True)
class Line:
    """Sums over the minutes of a UTC day; ``units`` are millionths of node-minutes.

    ``amount`` is None on the lines without ``price``: their minutes are unpriced. The other sums are over what was
    measured, None where nothing was. Steps are the job's counter, lowest and highest.
    """

    day: date
    environment: str
    fleet: str
    instance_type: str | None
    job: str | None
    owner: str
    category: Category
    price: PaidPrice | None
    units: int
    amount: int | None
    wasted: int | None = None
    core_minutes: float | None = None
    busy_core_minutes: float | None = None
    useful_core_minutes: float | None = None
    tokens: float | None = None
    samples: float | None = None
    first_step: int | None = None
    last_step: int | None = None


_KEY: Final = ("day", "environment", "fleet", "instance_type", "job", "owner", "category", "price")
_SUMS: Final = (
    *("units", "amount", "wasted", "core_minutes", "busy_core_minutes", "useful_core_minutes", "tokens", "samples"),
)


def book(minutes: Iterable[NodeMinute], reserved: Iterable[ReservedMinute] = ()) -> tuple[Line, ...]:
    """The lines of ``minutes``, of which there is one for each node and time, and of ``reserved`` ones."""
    lines: dict[tuple[object, ...], Line] = {}
    entries = [_of_part(minute, part) for minute in minutes for part in minute.parts]
    for entry in [*entries, *(_of_reserved(look) for look in reserved if look.unused)]:
        key = tuple(getattr(entry, name) for name in _KEY)
        lines[key] = _added(lines[key], entry) if key in lines else entry
    return tuple(lines[key] for key in sorted(lines, key=str))


def _of_part(minute: NodeMinute, part: JobPart) -> Line:
    return Line(
        day=_day(minute.minute),
        environment=minute.environment,
        fleet=minute.fleet,
        instance_type=minute.instance_type,
        job=part.job,
        owner=part.owner,
        category=minute.category,
        price=minute.price,
        units=part.units,
        amount=part.amount,
        wasted=part.wasted,
        core_minutes=part.cores,
        busy_core_minutes=part.busy_cores,
        useful_core_minutes=part.useful_cores,
        tokens=part.tokens,
        samples=part.samples,
        first_step=part.step,
        last_step=part.step,
    )


def _of_reserved(look: ReservedMinute) -> Line:
    return Line(
        day=_day(look.minute),
        environment=look.environment,
        fleet=look.fleet,
        instance_type=look.instance_type,
        job=None,
        owner=look.owner,
        category=Category.UNALLOCATED_RESERVED,
        price=look.price if look.amount is not None else None,
        units=look.unused * UNITS,
        amount=look.amount,
        wasted=look.amount,
    )


def _added(line: Line, entry: Line) -> Line:
    sums: dict[str, Any] = {name: _sum(getattr(line, name), getattr(entry, name)) for name in _SUMS}
    steps = [each for each in (line.first_step, line.last_step, entry.first_step) if each is not None]
    return replace(line, **sums, first_step=min(steps, default=None), last_step=max(steps, default=None))


def _sum(one: float | None, other: float | None) -> float | None:
    return one if other is None else other if one is None else one + other


def _day(minute: int) -> date:
    return datetime.fromtimestamp(minute, tz=timezone.utc).date()
