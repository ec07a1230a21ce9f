"""What people are told of a block: a subject and a body each."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from fleet.blocks import offering
from fleet.blocks import post_mortem as accounts
from fleet.blocks.life import Block
from fleet.blocks.offering import Offering
from fleet.blocks.post_mortem import NodeMinutes, PostMortem
from fleet.blocks.purchase import Request
from fleet.prices import wording
from fleet.prices.wording import Fee, amount

Text = tuple[str, str]
_OFFERS_SHOWN = 3
_EXTENDED_BEFORE = timedelta(hours=1)


def bought(request: Request) -> Text:
    """A block was bought, and its fleet has to be told."""
    offering = request.offering
    subject = f"{request.fleet}: Capacity Block {request.reservation_id} was bought"
    body = (
        f"{offering.instances} x {offering.instance_type} from {_utc(offering.start)} to {_utc(offering.end)} for "
        f"{wording.paid(offering.fee_usd, _fee(request))}, approved by {request.approved_by}.\n"
        f"Before it starts, write `reservation_id: {request.reservation_id}` and its `ends_at` into the fleet's market "
        "and deploy; nodes are launched into the block that the file names, and no earlier block may still be in use."
    )
    return subject, body


def not_bought(request: Request) -> Text:
    """EC2 refused the purchase."""
    subject = f"{request.fleet}: the Capacity Block was not bought"
    return subject, f"EC2 says: {request.reason}\nNothing was charged. Search again: fleet capacity search"


def uncertain(request: Request) -> Text:
    """It is not known whether anything was bought."""
    return (
        f"{request.fleet}: look whether a Capacity Block was bought",
        f"Request {request.request_id}: {request.reason}",
    )


def extension(block: Block, offers: Iterable[Offering], now: datetime) -> Text:
    """What the block could be extended by, as EC2 offers it ``now``."""
    subject = f"{block.fleet}: Capacity Block {block.reservation_id} can be extended until it ends at {_utc(block.end)}"
    lines = [
        f"until {_utc(offer.end)}: {wording.paid(offer.fee_usd, Fee('extension fee', now.date()))}, "
        f"${amount(offer.usd_per_instance_hour)} an instance-hour ({offer.offering_id})"
        for offer in offering.ranked(offers)[:_OFFERS_SHOWN]
    ]
    if not lines:
        return subject, "EC2 offers no extension now."
    # EC2 User Guide, "Extend Capacity Blocks": at least an hour before the end.
    how = (
        f"To buy one, until {_utc(block.end - _EXTENDED_BEFORE)}; it cannot be given back, and nobody but you approves "
        f"it: aws ec2 purchase-capacity-block-extension --capacity-reservation-id {block.reservation_id} "
        "--capacity-block-extension-offering-id OFFER"
    )
    return subject, "\n".join([*lines, how])


def post_mortem(request: Request, block: Block, paid: Sequence[Offering], nodes: Iterable[NodeMinutes]) -> Text:
    """What the block was worth; ``paid`` is what was bought, extensions included."""
    account = accounts.post_mortem(paid, nodes)
    if not account.fee_usd:
        return _unpriced(request, block, account)
    used = "not measured" if account.utilization_percent is None else f"{account.utilization_percent:.1f} %"
    over = f"{block.fleet}: Capacity Block {block.reservation_id} is over"
    subject = (
        over if account.wasted_usd is None else f"{over}; {wording.paid(account.wasted_usd, _fee(request))} were wasted"
    )
    body = (
        f"Paid: {wording.paid(account.fee_usd, _fee(request))}, "
        f"${amount(account.usd_per_instance_hour)} an instance-hour\n"
        f"Measured: {account.measured_percent:.1f} % of its instance-minutes\n"
        f"Jobs ran in {account.running_percent:.1f} % of them\n"
        f"Utilization while jobs ran: {used}\n"
        f"Wasted: {_wasted(account)}; not measured: ${amount(account.unmeasured_usd)}; both at what was paid"
    )
    return subject, body


def _unpriced(request: Request, block: Block, account: PostMortem) -> Text:
    # What was paid is not known here, and a part of an unknown price would be made up.
    why = "it was bought elsewhere" if request.is_adopted else "EC2 does not show what its extension cost"
    used = "not measured" if account.utilization_percent is None else f"{account.utilization_percent:.1f} %"
    subject = f"{block.fleet}: Capacity Block {block.reservation_id} is over"
    body = (
        f"Paid: not known, {why}\n"
        f"Measured: {account.measured_percent:.1f} % of its instance-minutes\n"
        f"Jobs ran in {account.running_percent:.1f} % of them\n"
        f"Utilization while jobs ran: {used}\n"
        f"Wasted, at the published Capacity Block price that the agents counted at until {block.end:%Y-%m-%d}: "
        f"{_wasted(account)}"
    )
    return subject, body


def _wasted(account: PostMortem) -> str:
    return "not known, the agents have no price" if account.wasted_usd is None else f"${amount(account.wasted_usd)}"


def _fee(request: Request) -> Fee:
    """What was paid, and the day on which it was offered and approved."""
    return Fee("Capacity Block fee", (request.approved_at or request.requested_at).date())


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
