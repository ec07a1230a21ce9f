"""Has the fleet the capacity that it was promised, and is it used: what the capacity watch sees, as alarms.

The watch publishes nothing of a fleet in a minute in which AWS did not answer. Such a minute must neither end an
incident nor open one, so these alarms keep their state; that the watch itself is silent or fails is told by alarms of
its own, in ``fleet.alarms.operations``. Gauges are read at their Minimum where two looks in one minute may differ: a
node is missing, or unused, in a minute in which every look says so.
"""

from collections.abc import Callable
from typing import Final

from fleet import metrics
from fleet.alarm_page import LONG_EVIDENCE_MINUTES, EvidenceKind
from fleet.alarms.metric_refs import MathRef
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Area, Comparison, TreatMissingData
from fleet.fleet_spec import MarketKind
from fleet.lateness import lasting, lasting_of_one

UNUSED_MINUTES: Final = 30
PRICE_MINUTES: Final = 15
DAY_MINUTES: Final = 24 * 60
# Half an hour before the engine tells jobs to write their last checkpoint.
SOON_MINUTES: Final = 90


def capacity_alarms(settings: AlarmSettings) -> tuple[AlarmSpec, ...]:
    """Those that the fleet's way of buying capacity can make true."""
    makers: list[Callable[[AlarmSettings], AlarmSpec]] = [_missing, _price_stale]
    if settings.is_reserved:
        makers.append(_unused)
    if settings.market is MarketKind.CAPACITY_BLOCK:
        makers += [_block_ending, _block_ending_soon]
    if settings.market is MarketKind.SPOT:
        makers.append(_spot_interruption)
    return tuple(make(settings) for make in makers)


def _missing(settings: AlarmSettings) -> AlarmSpec:
    return settings.about(Area.CAPACITY).ticket(
        "CapacityMissing",
        summary="The fleet cannot get the nodes that it should have.",
        action="Do what the newest capacity event says; the nodes come by themselves once there is capacity.",
        evidence=EvidenceKind.MISSING_CAPACITY,
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=settings.metric(metrics.MISSING_NODES, "Minimum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # The watch excuses what is on its way; three minutes outlast a node that is being replaced between two looks.
        datapoints=lasting_of_one(3),
        silence=TreatMissingData.KEEP,
    )


def _price_stale(settings: AlarmSettings) -> AlarmSpec:
    return settings.about(Area.CAPACITY).ticket(
        "PriceStale",
        summary="The price that the fleet's dollars are counted at is too old, or not known.",
        action="Refresh it with fleet prices refresh; look a negotiated rate up in its contract and date it anew.",
        evidence=EvidenceKind.PRICE,
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=settings.metric(metrics.STALE_PRICE, "Minimum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # A price grows old by the day; a read of the price table that failed must not open a ticket.
        datapoints=lasting_of_one(PRICE_MINUTES),
        silence=TreatMissingData.KEEP,
    )


def _unused(settings: AlarmSettings) -> AlarmSpec:
    return settings.about(Area.CAPACITY).ticket(
        "ReservationUnused",
        summary=f"Reserved instances have been paid for and not used for {UNUSED_MINUTES} minutes.",
        action="Find out why no node runs on them; if nobody needs them, make the reservation smaller or cancel it.",
        evidence=EvidenceKind.UNUSED_CAPACITY,
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=settings.metric(metrics.UNUSED_RESERVED_INSTANCES, "Minimum"),
        comparison=Comparison.ABOVE,
        threshold=0,
        # As many minutes as the half hour has: a node that is replaced, or boots, leaves a hole of a few of them.
        datapoints=lasting_of_one(UNUSED_MINUTES),
        silence=TreatMissingData.KEEP,
    )


def _block_ending(settings: AlarmSettings) -> AlarmSpec:
    return _ending(
        settings,
        "CapacityBlockEnding",
        "Capacity Block ending",
        DAY_MINUTES,
        "The fleet's Capacity Block ends within a day.",
        "Extend it as the ticket of 48 hours before the end says, or see that the job's last checkpoint will do.",
    )


def _block_ending_soon(settings: AlarmSettings) -> AlarmSpec:
    return _ending(
        settings,
        "CapacityBlockEndingSoon",
        "Capacity Block ending soon",
        SOON_MINUTES,
        "The fleet's Capacity Block ends within an hour and a half.",
        "See that the job writes a checkpoint at the signal, an hour before the end; it is stopped at 35 minutes.",
    )


def _ending(settings: AlarmSettings, key: str, title: str, minutes: int, summary: str, action: str) -> AlarmSpec:
    return settings.about(Area.CAPACITY).ticket(
        key,
        title=title,
        summary=summary,
        action=action,
        evidence=EvidenceKind.CAPACITY,
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=MathRef(
            # Without a block there is no datum of its end: that is over, and known. Without an answer of EC2 there is
            # none of either, and nothing is known.
            f"IF(reserved >= 0, FILL(left, {minutes}), {minutes})",
            (
                ("reserved", settings.metric(metrics.RESERVED_INSTANCES, "Minimum")),
                ("left", settings.metric(metrics.CAPACITY_BLOCK_MINUTES_LEFT, "Minimum")),
            ),
        ),
        comparison=Comparison.BELOW,
        threshold=minutes,
        # A clock does not flap.
        datapoints=lasting(1),
        silence=TreatMissingData.KEEP,
        # A graph whose axis goes up to a day would hide what the last hours do.
        drawn_on=metrics.CAPACITY_BLOCK_MINUTES_LEFT.name if minutes == SOON_MINUTES else None,
    )


def _spot_interruption(settings: AlarmSettings) -> AlarmSpec:
    trains = "See that its jobs went on from their checkpoint; if it happens often, name alternative_types."
    serves = "See that the nodes that are left carry the traffic; if it happens often, buy another way."
    return settings.about(Area.CAPACITY).ticket(
        "SpotInterruption",
        summary="EC2 takes Spot nodes of the fleet back.",
        action=trains if settings.purpose == "training" else serves,
        evidence=EvidenceKind.SPOT_INTERRUPTION,
        evidence_minutes=LONG_EVIDENCE_MINUTES,
        metric=settings.metric(metrics.SPOT_INTERRUPTIONS, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # One ticket for a storm: the alarm rests when a quarter of an hour has passed without a notice.
        datapoints=(1, 15),
        # There is a datum when EC2 says something, and none in an ordinary minute.
        silence=TreatMissingData.NOT_BREACHING,
    )
