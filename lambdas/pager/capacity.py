"""What the capacity watch said of a fleet in the last minutes: what is missing and why, what lies unused. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Final

from fleet.alarm_page import EvidenceKind
from fleet.prices.wording import amount, rate
from lambdas.pager.log_events import CapacityEvent, SeenReservation
from lambdas.pager.outside_text import NAME, inert, one_line

WORDS_SHOWN: Final = 600
RESERVATIONS_SHOWN: Final = 5
# These alarms began when the fleet first lacked, or wasted, what it still does; what was said before is not about them.
_BREACHES: Final[Mapping[EvidenceKind, Callable[[CapacityEvent], bool]]] = {
    EvidenceKind.MISSING_CAPACITY: lambda event: bool(event.missing),
    EvidenceKind.UNUSED_CAPACITY: lambda event: bool(event.unused),
}


@dataclass(frozen=True, slots=True)
class Capacity:
    """The newest figures, and the newest words: a minute in which AWS did not say why has figures only.

    ``reason`` and ``action`` are None for an alarm that is not about them. ``usd_since`` is what unused instances have
    cost since ``began``, None where nothing is known of either.
    """

    newest: CapacityEvent
    reason: str | None = None
    action: str | None = None
    began: datetime | None = None
    usd_since: float | None = None


def collect(events: Iterable[CapacityEvent], kind: EvidenceKind) -> Capacity | None:
    """What ``events`` say about an alarm, newest first as they were asked for; None when there are none."""
    every = list(events)
    last_looks: dict[datetime, CapacityEvent] = {}
    for event in every:
        # The watch looks more than once in a minute in which something happens.
        last_looks.setdefault(event.minute, event)
    newest_first = sorted(last_looks.values(), key=lambda e: e.minute, reverse=True)
    if not newest_first:
        return None
    if kind is EvidenceKind.SPOT_INTERRUPTION:
        # Of all looks: the one that the warning caused may be the only one that names the instances.
        telling = _telling([event for event in every if event.interrupted] or newest_first)
        return Capacity(newest_first[0], telling.reason, telling.action)
    if kind is EvidenceKind.PRICE:
        return Capacity(newest_first[0], _price_words(newest_first[0]))
    breaches = _BREACHES.get(kind)
    if breaches is None:
        return Capacity(newest_first[0])
    lasting = list(takewhile(breaches, newest_first))
    telling = _telling(lasting or newest_first[:1])
    began = lasting[-1].minute if lasting else None
    return Capacity(newest_first[0], telling.reason, telling.action, began, _usd(lasting))


def _price_words(event: CapacityEvent) -> str | None:
    if event.price is None or event.price_stale is None:
        return event.price_stale
    return rate(event.price, event.minute.date())


def _telling(newest_first: Sequence[CapacityEvent]) -> CapacityEvent:
    return next((event for event in newest_first if event.reason), newest_first[0])


def _usd(minutes: Sequence[CapacityEvent]) -> float | None:
    """What the unused instances of these minutes cost; minutes without an event add nothing."""
    known = [event.unused_usd_per_hour for event in minutes if event.unused_usd_per_hour is not None]
    return sum(known) / 60 if known else None


def facts(capacity: Capacity | None) -> dict[str, str]:
    """Why there is no capacity, in AWS's own words; the counts; whose fleet it is. What is not known is left out."""
    if capacity is None:
        return {}
    named = {
        "Why": capacity.reason,
        "Capacity": _counts(capacity.newest),
        "Owner": one_line(capacity.newest.owner or "", NAME),
    }
    return {name: inert(text, WORDS_SHOWN) for name, text in named.items() if text}


def _counts(seen: CapacityEvent) -> str:
    """``16 nodes wanted, 16 missing, 0 reserved, 0 used, 0 unused, at 03:40 UTC``."""
    figures = (
        ("nodes wanted", seen.wanted),
        ("missing", seen.missing),
        ("reserved", seen.reserved),
        ("used", seen.used),
        ("unused", seen.unused),
    )
    known = ", ".join(f"{count} {name}" for name, count in figures if count is not None)
    kind = " ".join(one_line(part, NAME) for part in (seen.market, seen.instance_type) if part)
    return f"{known}, at {seen.minute.astimezone(UTC):%H:%M} UTC{f' ({kind})' if kind else ''}"


def money(capacity: Capacity) -> str | None:
    """Dollars an hour of what is reserved and unused, with the price behind them; None when nothing is unused."""
    seen = capacity.newest
    if not seen.unused:
        return None
    if seen.unused_usd_per_hour is None:
        return f"{seen.unused} instances unused, at a price that is not known"
    text = f"${amount(seen.unused_usd_per_hour)} an hour unused"
    if capacity.usd_since is not None and capacity.began is not None:
        text += f", ${amount(capacity.usd_since)} since {capacity.began.astimezone(UTC):%Y-%m-%d %H:%M UTC}"
    if seen.price:
        return f"{text} ({rate(seen.price, seen.minute.date())})"
    # Instances of several types lie idle, each at its own price.
    return f"{text} ({seen.market or 'published'} prices of several types, counted on {seen.minute:%Y-%m-%d})"


def reservations(capacity: Capacity | None) -> list[str]:
    """One line for each reservation of the fleet, as EC2 shows it."""
    if capacity is None:
        return []
    lines = [inert(_line(each)) for each in capacity.newest.reservations[:RESERVATIONS_SHOWN]]
    more = len(capacity.newest.reservations) - RESERVATIONS_SHOWN
    return lines + ([f"and {more} more"] if more > 0 else [])


def _line(reservation: SeenReservation) -> str:
    facts = [one_line(reservation.state, NAME)]
    if reservation.total is not None:
        facts.append(f"{reservation.total} instances")
    if reservation.available is not None:
        facts.append(f"{reservation.available} available")
    if reservation.ends_at is not None:
        facts.append(f"until {reservation.ends_at.astimezone(UTC):%Y-%m-%d %H:%M UTC}")
    return f"{one_line(reservation.id, NAME)}: {', '.join(facts)}"
