"""What happens every hour: the month is forecast, a used-up budget is acted on, and once a day the waste is told.

Looking is all there is: doing it twice comes out the same. What the stop closes is written down before it is closed, so
that what a person closed is never opened by it; and as long as it stands it is closed again at every look, because a
deployment may have opened it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from fleet.budgets import wording
from fleet.budgets.spending import Spending, days_needed, spending
from fleet.budgets.stop import Standing, Stop, looked_at
from fleet.budgets.waste import day_of
from fleet.ledger import Line
from lambdas.budgets.ports import ConflictError, Place, Record, World


class NotDoneError(Exception):
    """Some of the fleets could not be closed or opened; one line."""


@dataclass(frozen=True, slots=True)
class Look:
    """Where the budgets stand, the environment's first, and what became of the stop."""

    budgets: tuple[Spending, ...]
    record: Record

    @property
    def worst_percent(self) -> float | None:
        """The highest forecast, in percent of its budget; None while none is known."""
        known = [each.forecast_percent for each in self.budgets if each.forecast_percent is not None]
        return max(known, default=None)


def standing(world: World, now: datetime) -> tuple[Spending, ...]:
    """Every budget at ``now``; none where the file has none."""
    if world.budgets is None:
        return ()
    days = {day: world.books.of(day) for day in days_needed(now)}
    missing = {day for day, lines in days.items() if lines is None}
    lines = [line for of_day in days.values() for line in of_day or ()]
    whole = spending(lines, missing, now, usd=world.budgets.usd)
    owners = world.budgets.owners.items()
    return (whole, *(spending(lines, missing, now, usd=usd, owner=owner) for owner, usd in owners))


def look(world: World, now: datetime) -> Look:
    """Forecast, and bring the fleets to where the stop stands.

    Raises:
        NotDoneError: a fleet could not be closed or opened; it is tried again at the next look.
    """
    budgets = standing(world, now)
    if world.budgets is None or world.memory is None:
        return Look(budgets, Record())
    record = world.memory.read()
    stop = looked_at(record.stop, world.budgets.stop, is_used_up=budgets[0].is_used_up, now=now)
    try:
        record = settle(world, record, stop, budgets[0], now)
    except ConflictError:
        # Somebody has decided in this moment, and what was decided is being done.
        record = world.memory.read()
    return Look(budgets, record)


def settle(world: World, record: Record, stop: Stop, spent: Spending, now: datetime) -> Record:
    """Remember ``stop``, tell people where it is new, and close or open what it says."""
    if world.memory is None:
        return record
    places = dict(world.places or {})
    if stop.standing is Standing.STOPPED:
        closed = tuple(sorted({*record.closed, *world.queues.open_among(places)} & set(places)))
        record = _remember(world, record, stop, closed)
        _each(world, closed, close=True)
        world.people.tell(
            f"stopped:{stop.month}:{stop.since}", *wording.stopped(world.environment, stop, spent, closed)
        )
        return record
    record = _remember(world, record, stop, record.closed)
    if stop.standing is Standing.ASKED:
        text = wording.question(world.environment, spent, sorted(places))
        # A question that nobody answers is asked again the next day.
        world.people.tell(f"asked:{stop.since}:{now.date()}", *text)
    if record.closed:
        _each(world, record.closed, close=False)
        text = wording.opened(world.environment, stop, record.closed)
        record = _remember(world, record, stop, ())
        world.people.tell(f"opened:{stop.month}:{record.version}", *text)
    return record


def tell_waste(world: World, day: date) -> bool:
    """Tell what ``day`` wasted; whether it has a ledger."""
    lines: Sequence[Line] | None = world.books.of(day)
    text = (
        wording.no_digest(world.environment, day)
        if lines is None
        else wording.digest(world.environment, day, day_of(lines))
    )
    # A day that got its ledger later is told again.
    key = f"waste:{world.environment}:{day}" + (":unknown" if lines is None else "")
    world.people.tell(key, *text)
    return lines is not None


def day_before(now: datetime) -> date:
    """Yesterday, UTC."""
    return now.date() - timedelta(days=1)


def _remember(world: World, record: Record, stop: Stop, closed: tuple[str, ...]) -> Record:
    if world.memory is None or (record.stop, record.closed) == (stop, closed):
        return record
    return world.memory.write(replace(record, stop=stop, closed=closed))


def _each(world: World, fleets: Sequence[str], *, close: bool) -> None:
    places: Mapping[str, Place] = world.places or {}
    problems = []
    for fleet in fleets:
        if fleet not in places:
            # It left the file, and its queue with it.
            continue
        try:
            (world.queues.close if close else world.queues.open)(places[fleet])
        except Exception as error:
            # Whatever it is, the other fleets are done.
            problems.append(f"fleet {fleet}: {type(error).__name__}: {error}")
    if problems:
        raise NotDoneError("; ".join(problems))
