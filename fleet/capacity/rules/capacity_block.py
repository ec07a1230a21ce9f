"""Is this Capacity Block one that AWS sells, and one that this fleet can live on?

Source of all: EC2 user guide, "Capacity Blocks for ML": how they work, find and purchase, billing.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, note, refuse, warn

MOST_INSTANCES: Final = 64
SOLD_SIZES: Final = (1, 2, 4, 8, 16, 32, 64)
DAY: Final = timedelta(days=1)
LONGEST_DAYS: Final = 182
EVERY_DAY_UP_TO: Final = 14
FURTHEST_START: Final = timedelta(weeks=8)
ENDS_AT: Final = timedelta(hours=11, minutes=30)
_MIDNIGHT: Final = datetime(2000, 1, 1, tzinfo=timezone.utc)


def has_an_id(case: Case) -> Iterator[Diagnostic]:
    """The CloudFormation registry has no resource that buys a Capacity Block."""
    if case.is_block and not case.reserved.exists:
        yield refuse(
            "capacity-block-without-id",
            "market.reservation_id",
            "",
            "a Capacity Block is bought outside CloudFormation",
            "buy it and give its reservation id, cr-…",
        )


def is_not_in_a_group(case: Case) -> Iterator[Diagnostic]:
    """Blocks of instances cannot be in a resource group, blocks of UltraServers can."""
    if case.is_block and case.reserved.resource_group and case.known.ultraserver_nodes is None:
        yield refuse(
            "capacity-block-in-resource-group",
            "market.resource_group",
            case.reserved.resource_group,
            "a Capacity Block of instances cannot be in a resource group; only one of UltraServers can",
            "give its reservation_id instead",
        )


def is_of_a_size_that_is_sold(case: Case) -> Iterator[Diagnostic]:
    """At most 64 instances; offered in sizes of 1, 2, 4, 8, 16, 32 and 64."""
    if not case.is_block:
        return
    held = case.reserved.instances
    path, size = ("nodes", case.spec.nodes) if held is None else ("market.instances", held)
    if size > MOST_INSTANCES:
        yield refuse(
            "capacity-block-size",
            path,
            size,
            f"a Capacity Block holds at most {MOST_INSTANCES} instances, not {size}",
            "make a fleet of each block",
        )
    elif held is not None and held not in SOLD_SIZES:
        yield warn(
            "capacity-block-size-unusual",
            path,
            size,
            f"Capacity Blocks are sold in sizes of {', '.join(map(str, SOLD_SIZES))}, not {size}",
            "look the block's size up: aws ec2 describe-capacity-reservations",
        )


def ends_when_blocks_end(case: Case) -> Iterator[Diagnostic]:
    """Every block ends at 11:30 UTC, and EC2 begins to terminate its instances at 11:00 UTC."""
    ends = case.reserved.ends_at
    if case.is_block and ends is not None and (ends - _MIDNIGHT) % DAY != ENDS_AT:
        yield refuse(
            "capacity-block-end-time",
            "market.ends_at",
            ends.isoformat(),
            "every Capacity Block ends at 11:30 UTC",
            "write the end's date with T11:30:00Z",
        )


def lasts_as_blocks_last(case: Case) -> Iterator[Diagnostic]:
    """1 to 14 days, or a multiple of 7 days up to 182.

    A block that starts at another hour than it ends lasts some hours less or more than the days it was asked for:
    both neighbors count.
    """
    starts, ends = case.reserved.starts_at, case.reserved.ends_at
    if not case.is_block or starts is None or ends is None:
        return
    if starts >= ends:
        yield refuse(
            "capacity-block-backwards",
            "market.starts_at",
            starts.isoformat(),
            f"the block would start after its end, {ends.isoformat()}",
            "exchange starts_at and ends_at, or look them up: aws ec2 describe-capacity-reservations",
        )
        return
    whole = (ends - starts) // DAY
    neighbors = {max(whole, 1), whole + 1} if (ends - starts) % DAY else {whole}
    if not any(_is_sold(days) for days in neighbors):
        yield refuse(
            "capacity-block-duration",
            "market.ends_at",
            ends.isoformat(),
            f"{whole} days is not a duration that is sold",
            f"blocks last 1 to {EVERY_DAY_UP_TO} days, or a multiple of 7 days up to {LONGEST_DAYS}",
        )


def _is_sold(days: int) -> bool:
    return 1 <= days <= EVERY_DAY_UP_TO or (days % 7 == 0 and days <= LONGEST_DAYS)


def has_started(case: Case) -> Iterator[Diagnostic]:
    """A block can be bought up to 8 weeks before its start."""
    starts = case.reserved.starts_at
    if not case.is_block or starts is None or case.now is None or starts <= case.now:
        return
    if starts - case.now > FURTHEST_START:
        yield warn(
            "capacity-block-start-too-far",
            "market.starts_at",
            starts.isoformat(),
            "a Capacity Block starts at most 8 weeks after it is bought",
            "look its start up: aws ec2 describe-capacity-reservations",
        )
    else:
        yield note(
            "capacity-block-not-started",
            "market.starts_at",
            starts.isoformat(),
            f"no node can be launched before {starts.isoformat()}",
        )


RULES: Final[tuple[Rule, ...]] = (
    has_an_id,
    is_not_in_a_group,
    is_of_a_size_that_is_sold,
    ends_when_blocks_end,
    lasts_as_blocks_last,
    has_started,
)
