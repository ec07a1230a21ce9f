"""What people ask of the engine: request, approve, reject, list. Who asks is proved, and nobody is believed otherwise.

Only this function writes the table: a request's price and an approval's name are what EC2 and STS said.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter

from fleet.approval import RefusedError, binding
from fleet.blocks import purchase
from fleet.blocks.offering import Search
from fleet.blocks.purchase import Request
from lambdas.capacity_blocks import service
from lambdas.capacity_blocks.request_table import ConflictError, Record
from lambdas.capacity_blocks.service import Dependencies

Caller = Callable[[str, str], str]
"""The ARN of whoever signed a URL for a binding; RefusedError when nobody did."""
_REQUEST: Final = TypeAdapter(Request)
_BUSY: Final = "it changed at this very moment; look at it and try again"


class Action(StrEnum):
    """What can be asked."""

    REQUEST = "request"
    APPROVE = "approve"
    REJECT = "reject"
    LIST = "list"


class Wish(BaseModel):
    """One offer for one fleet, with the search that found it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fleet: str
    offering_id: str
    instances: Annotated[int, Field(ge=1, le=64)]
    hours: Annotated[int, Field(ge=1)]
    earliest: AwareDatetime
    latest: AwareDatetime


class Command(BaseModel):
    """The event of an invocation by a person. ``signed_url`` is GetCallerIdentity, signed for this command."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action
    request_id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")] = "all"
    signed_url: str = ""
    wish: Wish | None = None


def run(
    command: Command,
    environment: str,
    aws: Dependencies,
    who: Caller,
    at: datetime,
) -> dict[str, Any]:
    """The answer: ``{"requests": [...]}``, or ``{"refused": why}``."""
    try:
        if command.action is Action.LIST:
            return _answer(record.request for record in aws.requests.all())
        principal = who(command.signed_url, binding(environment, command.action, command.request_id))
        match command.action:
            case Action.REQUEST:
                return _answer([_request(command, principal, aws, at)])
            case Action.APPROVE:
                service.approve(aws, command.request_id, principal, at)
                return _answer([_look_at(command.request_id, aws, at)])
            case Action.REJECT:
                return _answer([_reject(command.request_id, principal, aws)])
    except RefusedError as error:
        return {"refused": str(error)}
    except ConflictError:
        return {"refused": _BUSY}


def _request(command: Command, principal: str, aws: Dependencies, at: datetime) -> Request:
    wish = command.wish
    if wish is None:
        raise RefusedError("nothing is asked for")
    place = aws.deployed.get(wish.fleet)
    if place is None:
        raise RefusedError(f"fleet {wish.fleet} is no training fleet whose market is capacity-block, as deployed")
    search = Search(place.instance_type, wish.instances, wish.hours, wish.earliest, wish.latest)
    offering = aws.market.offering(search, wish.offering_id)
    if offering is None:
        raise RefusedError(f"EC2 does not offer {wish.offering_id} any more; search again")
    if offering.availability_zone != place.availability_zone:
        raise RefusedError(f"the offer is in {offering.availability_zone}, and the fleet in {place.availability_zone}")
    record = Record(Request(command.request_id, wish.fleet, offering, principal, at))
    # Version 0 is stored only where there is no such request yet.
    return aws.requests.write(record).request


def _reject(request_id: str, principal: str, aws: Dependencies) -> Request:
    record = aws.requests.read(request_id)
    if record is None:
        raise RefusedError(f"there is no request {request_id}")
    rejected = purchase.reject(record.request, principal)
    return aws.requests.write(Record(rejected, record.done, record.version)).request


def _look_at(request_id: str, aws: Dependencies, at: datetime) -> Request:
    # Offers are gone quickly: what was approved is bought at once, and not at the next tick of the clock.
    service.look(aws, at)
    record = aws.requests.read(request_id)
    if record is None:
        raise RefusedError(f"there is no request {request_id}")
    return record.request


def _answer(requests: Iterable[Request]) -> dict[str, Any]:
    return {"requests": [_REQUEST.dump_python(request, mode="json") for request in requests]}
