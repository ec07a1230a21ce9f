"""What happens to every block when somebody looks: on an event, on the clock, on an approval.

Looking is all there is: an event carries no order of its own, it only makes this happen sooner. So events may be
lost, doubled, late or out of order. Steps are done first and recorded after, because each may be done twice and none
may be left out; a purchase is recorded first and made after, because it may never be made twice.
"""

from dataclasses import replace
from datetime import datetime

from fleet.blocks import purchase
from fleet.blocks.life import KEPT_UP, Block, Step, due, key
from fleet.blocks.purchase import Request, Status
from lambdas.capacity_blocks import reports
from lambdas.capacity_blocks.ports import (
    ConflictError,
    PurchaseRefusedError,
    PurchaseUnansweredError,
    Record,
    World,
)


def look(world: World, now: datetime) -> list[str]:
    """Do everything that is due at ``now``; what went wrong, one line for each request, while the others go on."""
    problems = []
    for record in world.store.open():
        try:
            _advance(world, record, now)
        except ConflictError:
            # Somebody else looks at the same moment, and does the same.
            continue
        except Exception as error:
            problems.append(f"request {record.request.request_id}: {type(error).__name__}: {error}")
    return problems


def approve(world: World, request_id: str, principal: str, now: datetime) -> Request:
    """Approve a request; it is bought at the next look.

    Raises:
        RefusedError: it may not be approved, or there is no such request.
        ConflictError: it changed at this very moment; look again.
    """
    record = world.store.read(request_id)
    if record is None:
        raise purchase.RefusedError(f"there is no request {request_id}")
    approved = purchase.approve(record.request, principal, world.approvers, now)
    return world.store.write(replace(record, request=approved)).request


def _advance(world: World, record: Record, now: datetime) -> None:
    record = _store_if_changed(world, record, purchase.lapse(record.request, now))
    match record.request.status:
        case Status.APPROVED:
            _buy(world, record, now)
        case Status.PURCHASING | Status.UNCERTAIN:
            _search(world, record, now)
        case Status.PURCHASED:
            _live(world, record, now)


def _buy(world: World, record: Record, now: datetime) -> None:
    claimed = world.store.write(replace(record, request=purchase.claim(record.request, world.approvers, now)))
    try:
        reservation_id = world.market.purchase(claimed.request)
    except PurchaseRefusedError as error:
        failed = purchase.refused(claimed.request, str(error))
        world.store.write(replace(claimed, request=failed))
        world.people.tell(f"{failed.request_id}:failed", *reports.not_bought(failed))
    except PurchaseUnansweredError:
        # The next look searches; nothing is bought meanwhile.
        return
    else:
        world.store.write(replace(claimed, request=purchase.bought(claimed.request, reservation_id)))


def _search(world: World, record: Record, now: datetime) -> None:
    reservation_id = world.market.find(record.request.request_id)
    if reservation_id is not None:
        world.store.write(replace(record, request=purchase.bought(record.request, reservation_id)))
        return
    changed = _store_if_changed(world, record, purchase.not_found(record.request, now)).request
    if changed.status is Status.UNCERTAIN:
        world.people.tell(f"{changed.request_id}:uncertain", *reports.uncertain(changed))


def _live(world: World, record: Record, now: datetime) -> None:
    request = record.request
    block = world.market.block(request.reservation_id or "", request.fleet)
    if block is None:
        raise LookupError(f"EC2 does not show Capacity Block {request.reservation_id}")
    for step in due(block, record.done, now):
        _do(world, step, request, block)
        if step in KEPT_UP:
            continue
        record = world.store.write(replace(record, done=record.done | {key(step, block)}))


def _do(world: World, step: Step, request: Request, block: Block) -> None:
    match step:
        case Step.SCALE_UP:
            world.fleets.scale(block.fleet, block.instances)
        case Step.PROPOSE_EXTENSION:
            offers = world.market.extensions(block.reservation_id)
            world.people.tell(key(step, block), *reports.extension(block, offers))
        case Step.TICKET_DAY | Step.TICKET_SOON:
            world.people.tell(key(step, block), *reports.ending(block, step))
        case Step.CHECKPOINT:
            world.fleets.checkpoint(block.fleet, block.end)
        case Step.DRAIN:
            world.fleets.drain(block.fleet)
        case Step.STOP:
            world.fleets.stop(block.fleet)
            world.fleets.scale(block.fleet, 0)
        case Step.POST_MORTEM:
            nodes = world.usage.minutes(block.fleet, block.start, block.end)
            world.people.tell(key(step, block), *reports.post_mortem(request, block, nodes))


def _store_if_changed(world: World, record: Record, request: Request) -> Record:
    return record if request == record.request else world.store.write(replace(record, request=request))
