"""From the capacity watch's event of a fleet to what its reservations cost in a minute in which nobody used them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fleet.ledger.amounts import rate
from fleet.ledger.node_minute import PaidPrice
from fleet.ledger.reading import Event, minute_of, number, price_of, required, unreadable

KIND: Final = "capacity"


@dataclass(frozen=True, slots=True)
class ReservedMinute:
    """One look. ``unused`` instances are paid for and run nothing; ``amount`` is None without a known price."""

    environment: str
    fleet: str
    owner: str
    instance_type: str | None
    minute: int
    unused: int
    price: PaidPrice | None
    amount: int | None


def read_reserved_minute(event: Event) -> ReservedMinute | None:
    """What lay idle; None for a fleet without reservations.

    Raises:
        UnreadableEventError: a property that a minute cannot do without is missing, or is not what it should be.
    """
    if event.get("kind") != KIND:
        raise unreadable(event, f"kind is {event.get('kind')!r}, and should be {KIND!r}")
    if event.get("unused") is None:
        return None
    unused, price = required(event, "unused", int), price_of(event)
    dollars = number(event.get("unused_usd_per_hour"))
    instance_type = event.get("instance_type")
    return ReservedMinute(
        environment=required(event, "environment", str),
        fleet=required(event, "fleet", str),
        owner=required(event, "owner", str),
        instance_type=instance_type if isinstance(instance_type, str) else None,
        minute=minute_of(event),
        unused=unused,
        price=price,
        # Where types of several prices lie idle there is no one price, and no dollar goes without its kind and date.
        amount=None if price is None or dollars is None else rate(dollars),
    )


def one_per_fleet(minutes: Iterable[ReservedMinute]) -> tuple[ReservedMinute, ...]:
    """One look for each fleet and minute: of several the one that saw least, for that lay idle all the time."""
    least: dict[tuple[str, str, int], ReservedMinute] = {}
    for look in minutes:
        key = (look.environment, look.fleet, look.minute)
        if key not in least or look.unused < least[key].unused:
            least[key] = look
    return tuple(least[key] for key in sorted(least))
