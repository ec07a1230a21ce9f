"""What happens to every block when somebody looks: on an event, on the clock, on an approval.

Looking is all there is: an event carries no order of its own, it only makes this happen sooner. So events may be
lost, doubled, late or out of order. Steps are done first and recorded after, because each may be done twice and none
may be left out; a purchase is recorded first and made after, because it may never be made twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from fleet.approval import RefusedError
from fleet.blocks import purchase
from fleet.blocks.life import KEPT_UP, Block, Step, due, key
from fleet.blocks.offering import Offering
from fleet.blocks.post_mortem import NodeMinutes
from fleet.blocks.purchase import Request, Status
from lambdas.capacity_blocks import reports
from lambdas.capacity_blocks.fleets import BatchFleets, BlockFleet
from lambdas.capacity_blocks.market import Ec2Market, PurchaseRefusedError, PurchaseUnansweredError
from lambdas.capacity_blocks.request_table import ConflictError, Record, RequestTable
from lambdas.capacity_blocks.usage import NodeLogUsage, UsageError
from lambdas.shared.tickets import Tickets

ANNOUNCED: Final = "announced"
# How long the post-mortem waits for the node log before it says that nothing was measured.
USAGE_WAITS: Final = timedelta(hours=1)
_TOUCH_THE_FLEET: Final = frozenset({Step.SCALE_UP, Step.CHECKPOINT, Step.DRAIN, Step.STOP})


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the service reads and acts on. ``approvers`` are the IAM ARNs that may approve purchases, as deployed.

    ``deployed`` are the fleets that are launched into Capacity Blocks, by name. A fleet is touched for the block that
    it is deployed with, and for no other: a block that was bought for later must not undo the end of the one before it.
    """

    requests: RequestTable
    market: Ec2Market
    fleets: BatchFleets
    tickets: Tickets
    usage: NodeLogUsage
    approvers: frozenset[str]
    deployed: Mapping[str, BlockFleet] = field(default_factory=dict)


def look(aws: Dependencies, now: datetime) -> list[str]:
    """Do everything that is due at ``now``; what went wrong, one line for each request, while the others go on."""
    records = list(aws.requests.open())
    problems = []
    for fleet in aws.deployed:
        try:
            records += _adopt(aws, fleet, records, now)
        except Exception as error:
            problems.append(f"fleet {fleet}: {type(error).__name__}: {error}")
    for record in records:
        try:
            _advance(aws, record, now)
        except ConflictError:
            # Somebody else looks at the same moment, and does the same.
            continue
        except Exception as error:
            problems.append(f"request {record.request.request_id}: {type(error).__name__}: {error}")
    return problems


def approve(aws: Dependencies, request_id: str, principal: str, now: datetime) -> Request:
    """Approve a request; it is bought at the next look.

    Raises:
        RefusedError: it may not be approved, or there is no such request.
        ConflictError: it changed at this very moment; look again.
    """
    record = aws.requests.read(request_id)
    if record is None:
        raise RefusedError(f"there is no request {request_id}")
    approved = purchase.approve(record.request, principal, aws.approvers, now)
    return aws.requests.write(replace(record, request=approved)).request


def _adopt(aws: Dependencies, fleet: str, records: list[Record], now: datetime) -> list[Record]:
    """A record for the block that the fleet's environment file names, unless it has one; it is looked after as well."""
    place = aws.deployed[fleet]
    if place.reservation_id is None or any(
        record.request.fleet == fleet
        # A purchase that was not answered may be of this very block.
        and (record.request.reservation_id == place.reservation_id or record.request.status is Status.PURCHASING)
        for record in records
    ):
        return []
    if aws.requests.read(purchase.adopted_id(fleet, place.reservation_id)) is not None:
        return []
    block = aws.market.block(place.reservation_id, fleet)
    if block is None or now >= block.end:
        return []
    offering = Offering(
        offering_id="",
        instance_type=place.instance_type,
        instances=block.instances,
        availability_zone=place.availability_zone,
        start=block.start,
        end=block.end,
        fee_usd=0.0,
    )
    return [aws.requests.write(Record(purchase.adopted(fleet, place.reservation_id, offering, now)))]


def _advance(aws: Dependencies, record: Record, now: datetime) -> None:
    record = _store_if_changed(aws, record, purchase.lapse(record.request, now))
    match record.request.status:
        case Status.APPROVED:
            _buy(aws, record, now)
        case Status.PURCHASING | Status.UNCERTAIN:
            _search(aws, record, now)
        case Status.PURCHASED:
            _live(aws, record, now)


def _buy(aws: Dependencies, record: Record, now: datetime) -> None:
    claimed = aws.requests.write(replace(record, request=purchase.claim(record.request, aws.approvers, now)))
    try:
        reservation_id = aws.market.purchase(claimed.request)
    except PurchaseRefusedError as error:
        failed = purchase.refused(claimed.request, str(error))
        aws.requests.write(replace(claimed, request=failed))
        aws.tickets.tell(f"{failed.request_id}:failed", *reports.not_bought(failed))
    except PurchaseUnansweredError:
        # The next look searches; nothing is bought meanwhile.
        return
    else:
        aws.requests.write(replace(claimed, request=purchase.bought(claimed.request, reservation_id)))


def _search(aws: Dependencies, record: Record, now: datetime) -> None:
    reservation_id = aws.market.find(record.request.request_id)
    if reservation_id is not None:
        aws.requests.write(replace(record, request=purchase.bought(record.request, reservation_id)))
        return
    changed = _store_if_changed(aws, record, purchase.not_found(record.request, now)).request
    if changed.status is Status.UNCERTAIN:
        aws.tickets.tell(f"{changed.request_id}:uncertain", *reports.uncertain(changed))


def _live(aws: Dependencies, record: Record, now: datetime) -> None:
    request = record.request
    if record.is_accounted:
        return
    block = aws.market.block(request.reservation_id or "", request.fleet)
    if block is None:
        raise LookupError(f"EC2 does not show Capacity Block {request.reservation_id}")
    if ANNOUNCED not in record.done and not request.is_adopted:
        aws.tickets.tell(f"{block.reservation_id}:{ANNOUNCED}", *reports.bought(request))
        record = aws.requests.write(replace(record, done=record.done | {ANNOUNCED}))
    _take_steps(aws, record, block, now)


def _take_steps(aws: Dependencies, record: Record, block: Block, now: datetime) -> None:
    failures: list[Exception] = []
    for step in due(block, record.done, now):
        if failures and step is Step.POST_MORTEM:
            # Nothing is done for the block after it.
            break
        try:
            is_done = _take(aws, step, record.request, block, now)
        except Exception as error:
            # It is tried again at the next look, and holds no other step back: a checkpoint does not wait for a size.
            failures.append(error)
            continue
        if is_done and step not in KEPT_UP:
            record = aws.requests.write(replace(record, done=record.done | {key(step, block)}))
    if failures:
        raise failures[0]


def _take(aws: Dependencies, step: Step, request: Request, block: Block, now: datetime) -> bool:
    """Take a step; whether it need not be taken again."""
    return _touch(aws, step, block) if step in _TOUCH_THE_FLEET else _tell(aws, step, request, block, now)


def _touch(aws: Dependencies, step: Step, block: Block) -> bool:
    """Take a step that changes the fleet; whether it need not be taken again."""
    place = aws.deployed.get(block.fleet)
    if place is None or place.reservation_id != block.reservation_id:
        return False
    match step:
        case Step.SCALE_UP:
            aws.fleets.scale(block.fleet, block.instances)
        case Step.CHECKPOINT:
            aws.fleets.checkpoint(block.fleet, block.end)
        case Step.DRAIN:
            aws.fleets.drain(block.fleet)
        case Step.STOP:
            # A job that was told to end takes its time, and one may have been starting: looked at again.
            nothing_ran = aws.fleets.stop(block.fleet)
            aws.fleets.scale(block.fleet, 0)
            return nothing_ran
    return True


def _tell(aws: Dependencies, step: Step, request: Request, block: Block, now: datetime) -> bool:
    """Take a step that says something to people, once by block and step."""
    if step is Step.POST_MORTEM:
        text = reports.post_mortem(request, block, _paid(aws, request, block), _measured(aws, block, now))
    else:
        text = reports.extension(block, aws.market.extensions(block.reservation_id), now)
    aws.tickets.tell(f"{block.reservation_id}:{key(step, block)}", *text)
    return True


def _paid(aws: Dependencies, request: Request, block: Block) -> tuple[Offering, ...]:
    """What was bought, extensions included; as one offering without a fee where the fee is not known."""
    parts = (request.offering, *aws.market.extended(block.reservation_id))
    if request.is_adopted or parts[-1].end < block.end:
        return (replace(request.offering, start=block.start, end=block.end, fee_usd=0.0),)
    return parts


def _measured(aws: Dependencies, block: Block, now: datetime) -> tuple[NodeMinutes, ...]:
    try:
        return tuple(aws.usage.minutes(block.fleet, block.start, block.end))
    except UsageError:
        if now < block.end + USAGE_WAITS:
            raise
        return ()


def _store_if_changed(aws: Dependencies, record: Record, request: Request) -> Record:
    return record if request == record.request else aws.requests.write(replace(record, request=request))
