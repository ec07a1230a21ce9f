"""How a fleet's capacity is bought: the ``market`` of an environment file, one shape for each kind."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

ReservationId = Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$")]
ResourceGroup = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:\d{12}:group/[A-Za-z0-9_.-]+$", max_length=1600)
]
PlacementGroupName = Annotated[str, Field(min_length=1, max_length=255)]
Instances = Annotated[int, Field(ge=1, le=2000)]
Moment = Annotated[AwareDatetime, Field(ge=datetime(2020, 1, 1, tzinfo=UTC), le=datetime(2100, 1, 1, tzinfo=UTC))]


class _Market(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OnDemand(_Market):
    """Bought by the second, if there is capacity."""

    kind: Literal["on-demand"]


class Spot(_Market):
    """Spare capacity, taken back with two minutes' notice."""

    kind: Literal["spot"]


class Reservation(_Market):
    """An on-demand capacity reservation: created here, or an existing one by its id or by its resource group."""

    kind: Literal["reservation"]
    reservation_id: ReservationId | None = None
    resource_group: ResourceGroup | None = None
    placement_group: PlacementGroupName | None = None
    """The placement group that an existing reservation lies in."""
    instances: Instances | None = None
    """How many it holds, or is to hold. Default: one for each node."""
    end_date: Moment | None = None


class CapacityBlock(_Market):
    """A Capacity Block, bought elsewhere: CloudFormation cannot buy one."""

    kind: Literal["capacity-block"]
    reservation_id: ReservationId | None = None
    resource_group: ResourceGroup | None = None
    """Instead of the id, for Capacity Blocks of UltraServers."""
    instances: Instances | None = None
    """How many it holds. Default: one for each node."""
    starts_at: Moment | None = None
    ends_at: Moment


Market = Annotated[OnDemand | Spot | Reservation | CapacityBlock, Field(discriminator="kind")]


def end_of(market: OnDemand | Spot | Reservation | CapacityBlock) -> datetime | None:
    """When the capacity goes away by itself, if it does."""
    if isinstance(market, CapacityBlock):
        return market.ends_at
    return market.end_date if isinstance(market, Reservation) else None
