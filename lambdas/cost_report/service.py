"""What happens every hour: what arrived becomes minutes, the days that it touches are rolled up again, and held
against the bill.

Everything is done again from the start when it is done twice, and comes out the same: an hour's minutes and a day's
ledger are whole objects that replace what was there. An hour counts as taken in when the days that it touches are
rolled up, so that whatever fails is done by the next run.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fleet.ledger.columns import EVENTS, LEDGER, MINUTES, RESERVED, STATE, place
from lambdas.cost_report import rollup
from lambdas.cost_report.arrivals import Arrived, by_hour, events
from lambdas.cost_report.minutes import Sorted

if TYPE_CHECKING:
    from lambdas.cost_report.adapters import Dependencies
    from lambdas.cost_report.store import S3Store

# How long an hour's objects are looked at again: a late one changes it. They are kept for longer, see the stack.
LOOKED_AT: Final = timedelta(days=14)
# The capacity watch writes an event of each fleet every minute, and Firehose holds them for 15 minutes at most.
_SILENCE: Final = timedelta(hours=2)
# A run begins no hour when less of its time is left: days have to be rolled up after it.
_ENOUGH_SECONDS: Final = 450.0
_ROWS: Final = {"nodes": (MINUTES, rollup.NODE_ROWS), "reserved": (RESERVED, rollup.RESERVED_ROWS)}


@dataclass(slots=True)
class Report:
    """What a run did. ``waiting`` hours are left for the next run; ``problems`` are one line each."""

    hours: list[str] = field(default_factory=list)
    waiting: int = 0
    days: dict[date, rollup.RolledUp] = field(default_factory=dict)
    unreadable: int = 0
    problems: list[str] = field(default_factory=list)
    jobs: int | None = None
    """Jobs in the newest hour that was taken in; None when none was."""


def run(aws: "Dependencies", environment: str, now: datetime, *, again: date | None = None) -> Report:
    """Take in what is new; with ``again`` also what arrived on that day, as if it were new."""
    report, state = Report(), _state(aws.store)
    arrived = by_hour(aws.store.below(EVENTS, after=_first_key(min(now - LOOKED_AT, _midnight(again, now)))))
    newest = arrived[-1].hour if arrived else "the beginning"
    if not arrived or newest < _hour(now - _SILENCE):
        report.problems.append(f"no event has arrived since {newest}: neither of nodes nor of the capacity watch")
    changed = [hour for hour in arrived if state.get(hour.hour) != hour.digest or _is_of(hour, again)]
    touched: set[date] = set()
    for index, hour in enumerate(changed):
        if index and aws.seconds_left() < _ENOUGH_SECONDS:
            report.waiting = len(changed) - index
            report.problems.append(f"{report.waiting} hours of events wait for the next run")
            break
        touched |= _take_in(aws, environment, hour, report)
        state[hour.hour] = hour.digest
        report.hours.append(hour.hour)
    for day in sorted(touched):
        report.days[day] = _roll_up(aws, environment, day)
    if report.hours:
        kept = {hour: digest for hour, digest in sorted(state.items()) if hour >= _hour(now - LOOKED_AT)}
        aws.store.send(json.dumps(kept, indent=1).encode(), STATE)
    return report


def _take_in(aws: "Dependencies", environment: str, hour: Arrived, report: Report) -> set[date]:
    found = Sorted(aws.scratch, environment)
    for key in hour.keys:
        content = aws.store.read(key)
        if content is not None:
            found.take(events(content))
    files = found.close()
    report.jobs = len(found.jobs)
    report.unreadable += found.unreadable
    if found.unreadable:
        report.problems.append(f"{found.unreadable} events of {hour.hour} are in no ledger: {found.problems[0]}")
    with rollup.connect(aws.scratch) as database:
        for (kind, day), lines in files.items():
            prefix, rows = _ROWS[kind]
            packed = lines.with_suffix(".parquet")
            rollup.pack(database, rows, lines, packed)
            aws.store.send(packed, f"{prefix}{day.isoformat()}/arrived={hour.hour}.parquet")
            lines.unlink()
            packed.unlink()
    return {day for _, day in files}


def _roll_up(aws: "Dependencies", environment: str, day: date) -> rollup.RolledUp:
    nodes, reserved = (_fetched(aws, f"{prefix}{day.isoformat()}/", kind) for kind, (prefix, _) in _ROWS.items())
    target = aws.scratch / "ledger.parquet"
    with rollup.connect(aws.scratch) as database:
        done = rollup.roll_up(database, day, nodes, reserved, target)
    aws.store.send(target, place(LEDGER, environment, day))
    for path in (*nodes, *reserved, target):
        path.unlink()
    return done


def _fetched(aws: "Dependencies", prefix: str, kind: str) -> list[Path]:
    paths = []
    for index, each in enumerate(aws.store.below(prefix)):
        paths.append(aws.scratch / f"{kind}-{index}.parquet")
        aws.store.fetch(each.key, paths[-1])
    return paths


def _state(store: "S3Store") -> dict[str, str]:
    content = store.read(STATE)
    try:
        found = {} if content is None else json.loads(content)
    except ValueError:
        # Everything is taken in again, and comes out the same.
        return {}
    return {str(hour): str(digest) for hour, digest in found.items()} if isinstance(found, dict) else {}


def _midnight(again: date | None, now: datetime) -> datetime:
    return now if again is None else datetime(again.year, again.month, again.day, tzinfo=UTC)


def _is_of(hour: Arrived, day: date | None) -> bool:
    return day is not None and hour.hour.startswith(day.isoformat())


def _hour(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d-%H}"


def _first_key(moment: datetime) -> str:
    return f"{EVENTS}{_hour(moment)}"


def told(report: Report) -> Mapping[str, Any]:
    """The report for the log."""
    days: Iterable[tuple[date, rollup.RolledUp]] = sorted(report.days.items())
    return {
        "hours": report.hours,
        "days": {
            day.isoformat(): {"lines": of.lines, "twins_dropped": of.twins, "parts_merged": of.parts}
            for day, of in days
        },
        "unreadable": report.unreadable,
        "waiting": report.waiting,
    }
