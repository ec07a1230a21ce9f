"""From log events to minutes in the ledger: a node's, and what reservations cost while nobody used them.

A node's event is as ``agents/schemas/node-log-event.schema.json`` has it; the other is the capacity watch's of a fleet.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final, TypeVar

from fleet import FleetError
from fleet.cost import split_whole
from fleet.ledger.amounts import UNITS, rate
from fleet.ledger.node_minute import OF_STATE, JobPart, NodeMinute, PaidPrice
from fleet.metrics import PERIOD_SECONDS
from fleet.node_state import NodeState

SCHEMA: Final = 1
# No node costs a million dollars an hour; what says so is damaged, and would spoil every sum.
_MOST_USD_PER_HOUR: Final = 1_000_000.0
Event = Mapping[str, Any]
_T = TypeVar("_T")


class UnreadableEventError(FleetError, ValueError):
    """An event that is not a minute of the ledger; one line: which, what is wrong with it."""


def read_node_minute(event: Event) -> NodeMinute:
    """The minute that ``event`` is of.

    Raises:
        UnreadableEventError: a property that a minute cannot do without is missing, or is not what the schema says.
    """
    if event.get("schema") != SCHEMA:
        raise unreadable(event, f"schema is {event.get('schema')!r}, and {SCHEMA} can be read")
    state = required(event, "state", str)
    if state not in OF_STATE:
        raise unreadable(event, f"state {state!r} is none of {', '.join(OF_STATE)}")
    price = price_of(event)
    boot_id, instance_type = event.get("boot_id"), event.get("instance_type")
    return NodeMinute(
        environment=required(event, "environment", str),
        fleet=required(event, "fleet", str),
        node=required(event, "node", str),
        instance_type=instance_type if isinstance(instance_type, str) else None,
        minute=minute_of(event),
        boot_id=boot_id if isinstance(boot_id, str) else "",
        seq=required(event, "seq", int),
        category=OF_STATE[NodeState(state)],
        price=price,
        parts=_parts(event, price),
        recovered=event.get("recovered") is True,
    )


def unreadable(event: Event, problem: str) -> UnreadableEventError:
    """``problem`` with what is known of the event's place."""
    known = [f"{name} {event[name]}" for name in ("fleet", "node", "minute") if isinstance(event.get(name), str)]
    return UnreadableEventError(f"event of {', '.join(known) or 'nobody knows what'}: {problem}"[:300])


def required(event: Event, name: str, kind: type[_T]) -> _T:
    """A property of that type, which is neither empty nor negative."""
    value = event.get(name)
    if value is None:
        raise unreadable(event, f"{name} is missing")
    if not isinstance(value, kind) or isinstance(value, bool) or value == "" or (isinstance(value, int) and value < 0):
        raise unreadable(event, f"{name} is {value!r}, and should be {_WORDS[kind]}")
    return value


_WORDS: Final = {str: "a text", int: "a whole number"}


def minute_of(event: Event) -> int:
    """The start of the event's minute, unix seconds."""
    text = required(event, "minute", str)
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        raise unreadable(event, f"minute is {text!r}, and should be as 2026-11-20T10:00:00Z") from None
    return int(moment.timestamp()) // PERIOD_SECONDS * PERIOD_SECONDS


def price_of(event: Event) -> PaidPrice | None:
    """The price of the node's hour; None without one, or without its kind and date: no dollar goes without them."""
    price = event.get("price")
    if not isinstance(price, Mapping):
        return None
    hour, words = number(price.get("usd_per_hour")), [price.get(name) for name in ("kind", "source", "as_of")]
    if hour is None or hour >= _MOST_USD_PER_HOUR or not all(isinstance(word, str) and word for word in words):
        return None
    # A price of nothing is no price.
    return PaidPrice(rate(hour), *(str(word) for word in words)) if rate(hour) else None


def number(value: object) -> float | None:
    """``value`` when it is a finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _parts(event: Event, price: PaidPrice | None) -> tuple[JobPart, ...]:
    owner, jobs = required(event, "owner", str), event.get("jobs")
    entries = [entry for entry in jobs if isinstance(entry, Mapping)] if isinstance(jobs, list) else []
    if not entries:
        # Without its list, such as in an event that was too large for it, a node has one job or none.
        name = {"job": event["job"]} if event.get("job") else {}
        entries = [{**name, "wasted_usd_per_hour": event.get("wasted_usd_per_hour")}]
    cores = [number(entry.get("cores")) for entry in entries]
    weights = [each or 0.0 for each in cores]
    units = split_whole(UNITS, weights)
    amounts = _amounts(entries, weights, price)
    return tuple(
        _part(entry, owner, *share)
        for entry, share in zip(entries, zip(units, amounts, cores, strict=True), strict=True)
    )


def _part(entry: Event, owner: str, units: int, amount: int | None, cores: float | None) -> JobPart:
    wasted = number(entry.get("wasted_usd_per_hour"))
    job, own, step = entry.get("job"), entry.get("owner"), number(entry.get("step"))
    return JobPart(
        job=job if isinstance(job, str) and job else None,
        owner=own if isinstance(own, str) and own else owner,
        units=units,
        amount=amount,
        wasted=None if amount is None or wasted is None else min(amount, rate(wasted)),
        cores=cores,
        busy_cores=_of(cores, number(entry.get("neuron_core_utilization"))),
        useful_cores=_of(cores, number(entry.get("tensor_engine_utilization"))),
        tokens=_in_minute(number(entry.get("tokens_per_second"))),
        samples=_in_minute(number(entry.get("samples_per_second"))),
        step=None if step is None else int(step),
    )


def _amounts(entries: Sequence[Event], weights: Sequence[float], price: PaidPrice | None) -> Sequence[int | None]:
    if price is None:
        return (None,) * len(entries)
    told = [number(entry.get("cost_usd_per_hour")) for entry in entries]
    known = [rate(cost) for cost in told if cost is not None]
    # The agent's own split, so that pages and the ledger say the same; it knows cores better than to two digits.
    if len(known) == len(entries) and sum(known) == price.rate:
        return known
    return split_whole(price.rate, weights)


def _of(cores: float | None, percent: float | None) -> float | None:
    return None if cores is None or percent is None else cores * min(percent, 100.0) / 100


def _in_minute(per_second: float | None) -> float | None:
    return None if per_second is None else per_second * PERIOD_SECONDS


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
