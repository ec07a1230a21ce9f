"""The shape of an environment file. Frozen, and every unknown key is an error.

Rules that need the instance catalogue (does the type exist, does the region offer it, has it EFA) belong to
``fleet.capacity``; ``loader.load`` applies both and answers with one line for each mistake.
"""

from datetime import datetime
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")]
AccountId = Annotated[str, Field(pattern=r"^\d{12}$")]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]
ReservationId = Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Network(_Model):
    """The VPC. Zone names differ between accounts, zone ids do not: the file gives both."""

    cidr: IPv4Network
    availability_zones: Annotated[dict[str, str], Field(min_length=1)]
    nat_gateways: Annotated[int, Field(ge=1, le=3)] = 1
    """At least one: nodes install the agent's dependencies from the public package index."""


class OnDemand(_Model):
    """Bought by the second, if there is capacity."""

    kind: Literal["on-demand"]


class Spot(_Model):
    """Spare capacity, taken back with two minutes' notice."""

    kind: Literal["spot"]


class Reservation(_Model):
    """An on-demand capacity reservation: created here, or an existing one by its id."""

    kind: Literal["reservation"]
    reservation_id: ReservationId | None = None
    end_date: AwareDatetime | None = None


class CapacityBlock(_Model):
    """A Capacity Block, bought elsewhere: CloudFormation cannot buy one."""

    kind: Literal["capacity-block"]
    reservation_id: ReservationId
    ends_at: AwareDatetime


Market = Annotated[OnDemand | Spot | Reservation | CapacityBlock, Field(discriminator="kind")]


class FleetAlarms(_Model):
    """Thresholds that a fleet may set for itself; ``fleet.alarms`` says what each is for."""

    low_utilization_percent: Annotated[float, Field(gt=0, lt=100)] = 20.0
    low_core_utilization_percent: Annotated[float, Field(gt=0, le=100)] = 70.0
    wasted_usd_per_node_hour: Annotated[float, Field(ge=0)] = 5.0
    hbm_percent: Annotated[float, Field(gt=0, le=100)] = 95.0


class _Fleet(_Model):
    name: Name
    owner: str
    instance_type: str
    nodes: Annotated[int, Field(ge=1, le=2000)]
    market: Market
    image_parameter: str = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"
    """SSM parameter that holds the nodes' machine image; it must be an ECS image with the Neuron tools. Default: AWS's
    own. Whether that one carries the EFA driver could not be confirmed: a multi-node fleet may need an image that does.
    """
    efa: bool | None = None
    """Whether nodes talk over EFA. Default: when the instance type has it and the fleet trains on several nodes."""
    lnc: Literal[1, 2] | None = None
    """Physical cores in one logical core. Default: the chip's."""
    dtype: Literal["bf16", "fp16", "fp8", "fp32"] = "bf16"
    """Data type whose peak utilization is measured against."""
    target_utilization_percent: Annotated[float, Field(gt=0, le=100)] = 40.0
    """Tensor-engine utilization that the fleet's owner calls good; waste is measured against it."""
    reports_flops: bool = True
    """Whether the node's neuron-monitor reports FLOP/s; old tools do not, and core utilization takes its place."""
    alarms: FleetAlarms = FleetAlarms()


class TrainingFleet(_Fleet):
    """Nodes for multi-node jobs, in one availability zone."""

    purpose: Literal["training"]
    availability_zone: str
    container_image: str

    @property
    def minimum_nodes(self) -> int:
        """How many nodes exist at any time: what is paid for anyway stays, the rest goes away between jobs."""
        return self.nodes if isinstance(self.market, Reservation | CapacityBlock) else 0


class Endpoint(_Model):
    """One HTTP service in front of an inference fleet."""

    container_image: str
    certificate_arn: str | None = None
    """Without one the listener is plain HTTP, which only an environment with ``plain_http: true`` may have."""
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    health_path: str = "/health"
    tasks: Annotated[int, Field(ge=0)] = 2
    devices_per_task: Annotated[int, Field(ge=1)] = 12
    latency_p99_seconds: Annotated[float, Field(gt=0)] = 2.0


class InferenceFleet(_Fleet):
    """Nodes that serve one endpoint, over several availability zones."""

    purpose: Literal["inference"]
    endpoint: Endpoint

    @property
    def minimum_nodes(self) -> int:
        """How many nodes exist at any time: an endpoint keeps all of them."""
        return self.nodes


Fleet = Annotated[TrainingFleet | InferenceFleet, Field(discriminator="purpose")]


class Paging(_Model):
    """Where pages go. Secrets by name only; the values live in Secrets Manager.

    The PagerDuty secret is JSON: ``{"routing_key": "...", "events_url": "..."}``, the URL for the EU service region.
    The Slack secret is the incoming webhook's URL.
    """

    pagerduty_secret: str
    slack_secret: str
    runbooks_url: str


class Prometheus(_Model):
    """Where every node serves ``/metrics``. Whoever reaches the address can read it: docs/prometheus.md."""

    port: Annotated[int, Field(ge=1024, le=65535)]
    address: IPv4Address = IPv4Address("127.0.0.1")
    """The node's own loopback address, or 0.0.0.0 for scrapers elsewhere, which the security groups must let in."""


class Monitoring(_Model):
    """How the agents measure, and who is shown what besides CloudWatch's metrics and logs."""

    period_seconds: Annotated[int, Field(ge=1, le=60)] = 5
    log_retention_days: Literal[7, 14, 30, 90, 365] = 30
    prometheus: Prometheus | None = None
    otlp: bool = False
    """Whether series by core go to CloudWatch's OTLP endpoint too, where they are billed by the byte."""


class Environment(_Model):
    """One account and region, and all that is deployed there."""

    name: Name
    account: AccountId
    region: Region
    owner: str
    network: Network
    fleets: Annotated[tuple[Fleet, ...], Field(min_length=1)]
    paging: Paging
    monitoring: Monitoring = Monitoring()
    retain_data: bool = True
    """Keep file systems, buckets and logs when a stack is deleted."""
    plain_http: bool = False
    """Allow listeners without TLS; for an environment that nothing outside can reach."""

    @model_validator(mode="after")
    def _fleet_names_are_unique(self) -> Self:
        seen: set[str] = set()
        for fleet in self.fleets:
            if fleet.name in seen:
                raise ValueError(f"fleets: two fleets are called {fleet.name}; give each its own name")
            seen.add(fleet.name)
        return self

    @property
    def training_fleets(self) -> tuple[TrainingFleet, ...]:
        """The fleets that train."""
        return tuple(fleet for fleet in self.fleets if isinstance(fleet, TrainingFleet))

    @property
    def inference_fleets(self) -> tuple[InferenceFleet, ...]:
        """The fleets that serve."""
        return tuple(fleet for fleet in self.fleets if isinstance(fleet, InferenceFleet))


def end_of(market: OnDemand | Spot | Reservation | CapacityBlock) -> datetime | None:
    """When the capacity goes away by itself, if it does."""
    if isinstance(market, CapacityBlock):
        return market.ends_at
    return market.end_date if isinstance(market, Reservation) else None
