"""What happens every hour: the month is forecast, a used-up budget is acted on, and once a day the waste is told.

Looking is all there is: doing it twice comes out the same. What the stop closes is written down before it is closed, so
that what a person closed is never opened by it; and as long as it stands it is closed again at every look, because a
deployment may have opened it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from fleet.budgets import wording
from fleet.budgets.spending import Spending, days_needed, spending
from fleet.budgets.stop import Standing, Stop, looked_at
from fleet.budgets.waste import day_of
from fleet.ledger import Line
from lambdas.budgets.fleets import Target
from lambdas.budgets.stop_table import ConflictError, Record

if TYPE_CHECKING:
    from lambdas.budgets.adapters import Dependencies


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


def standing(aws: "Dependencies", now: datetime) -> tuple[Spending, ...]:
    """Every budget at ``now``; none where the file has none."""
    if aws.budgets is None:
        return ()
    days = {day: aws.ledger.of(day) for day in days_needed(now)}
    missing = {day for day, lines in days.items() if lines is None}
    lines = [line for of_day in days.values() for line in of_day or ()]
    whole = spending(lines, missing, now, usd=aws.budgets.usd)
    owners = aws.budgets.owners.items()
    return (whole, *(spending(lines, missing, now, usd=usd, owner=owner) for owner, usd in owners))


def look(aws: "Dependencies", now: datetime) -> Look:
    """Forecast, and bring the fleets to where the stop stands.

    Raises:
        NotDoneError: a fleet could not be closed or opened; it is tried again at the next look.
    """
    budgets = standing(aws, now)
    if aws.budgets is None or aws.stops is None:
        return Look(budgets, Record())
    record = aws.stops.read()
    stop = looked_at(record.stop, aws.budgets.stop, is_used_up=budgets[0].is_used_up, now=now)
    try:
        record = settle(aws, record, stop, budgets[0], now)
    except ConflictError:
        # Somebody has decided in this moment, and what was decided is being done.
        record = aws.stops.read()
    return Look(budgets, record)


def settle(aws: "Dependencies", record: Record, stop: Stop, spent: Spending, now: datetime) -> Record:
    """Remember ``stop``, tell people where it is new, and close or open what it says."""
    if aws.stops is None:
        return record
    targets = dict(aws.targets or {})
    if stop.standing is Standing.STOPPED:
        closed = tuple(sorted({*record.closed, *aws.fleets.open_among(targets)} & set(targets)))
        record = _remember(aws, record, stop, closed)
        _each(aws, closed, close=True)
        aws.tickets.tell(f"stopped:{stop.month}:{stop.since}", *wording.stopped(aws.environment, stop, spent, closed))
        return record
    record = _remember(aws, record, stop, record.closed)
    if stop.standing is Standing.ASKED:
        text = wording.question(aws.environment, spent, sorted(targets))
        # A question that nobody answers is asked again the next day.
        aws.tickets.tell(f"asked:{stop.since}:{now.date()}", *text)
    if record.closed:
        _each(aws, record.closed, close=False)
        text = wording.opened(aws.environment, stop, record.closed)
        record = _remember(aws, record, stop, ())
        aws.tickets.tell(f"opened:{stop.month}:{record.version}", *text)
    return record


def tell_waste(aws: "Dependencies", day: date) -> bool:
    """Tell what ``day`` wasted; whether it has a ledger."""
    lines: Sequence[Line] | None = aws.ledger.of(day)
    text = (
        wording.no_digest(aws.environment, day)
        if lines is None
        else wording.digest(aws.environment, day, day_of(lines))
    )
    # A day that got its ledger later is told again.
    key = f"waste:{aws.environment}:{day}" + (":unknown" if lines is None else "")
    aws.tickets.tell(key, *text)
    return lines is not None


def day_before(now: datetime) -> date:
    """Yesterday, UTC."""
    return now.date() - timedelta(days=1)


def _remember(aws: "Dependencies", record: Record, stop: Stop, closed: tuple[str, ...]) -> Record:
    if aws.stops is None or (record.stop, record.closed) == (stop, closed):
        return record
    return aws.stops.write(replace(record, stop=stop, closed=closed))


def _each(aws: "Dependencies", fleets: Sequence[str], *, close: bool) -> None:
    targets: Mapping[str, Target] = aws.targets or {}
    problems = []
    for fleet in fleets:
        if fleet not in targets:
            # It left the file, and its queue with it.
            continue
        try:
            (aws.fleets.close if close else aws.fleets.open)(targets[fleet])
        except Exception as error:
            # Whatever it is, the other fleets are done.
            problems.append(f"fleet {fleet}: {type(error).__name__}: {error}")
    if problems:
        raise NotDoneError("; ".join(problems))
