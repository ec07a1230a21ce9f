"""What an environment file says of a fleet: its nodes and how they are bought, and what they are for."""

from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from environments.endpoints import Endpoint
from environments.markets import CapacityBlock, Market, Reservation
from environments.strict_model import StrictModel
from fleet.alarms.adjustments import MOST_MINUTES
from fleet.alarms.settings import Thresholds
from fleet.fleet_spec import EfaLayout, Engine, MarketKind
from fleet.instances import core_groupings
from fleet.neuron_software import Framework
from fleet.serving.scaling import Scaling
from fleet.without_job import patience_minutes

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")]
S3Place = Annotated[
    str, Field(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.'()/-]*)?$", max_length=900)
]
# Names of the Parameter Store: SSM API reference, GetParameter, and PutParameter for the length.
SsmName = Annotated[str, Field(pattern=r"^/?[A-Za-z0-9_.-][A-Za-z0-9_./-]*$", max_length=1011)]


def _as_some_chip_groups(cores: int) -> int:
    if cores not in core_groupings():
        known = " or ".join(map(str, core_groupings()))
        raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": known})
    return cores


Lnc = Annotated[int, Field(strict=True), AfterValidator(_as_some_chip_groups)]


_DEFAULTS: Final = Thresholds()


class OneAlarm(StrictModel):
    """What a fleet's owner changes about one alarm."""

    severity: Literal["page", "ticket", "none"] | None = None
    """Whether it wakes somebody, waits for the morning, or is told to nobody. Default: the alarm's own."""
    minutes: Annotated[int, Field(ge=1, le=MOST_MINUTES)] | None = None
    """How many minutes it must last before anybody is told. Default: the alarm's own."""

    @property
    def is_off(self) -> bool:
        """Whether nobody is told."""
        return self.severity == "none"


class FleetAlarms(StrictModel):
    """Thresholds that a fleet may set for itself; ``fleet.alarms`` says what each is for."""

    wakes: bool = True
    """Whether anything of the fleet wakes anybody: with ``false`` every page is a ticket."""
    each: dict[str, OneAlarm] = Field(default_factory=dict)
    """Changes of single alarms, by their keys."""

    @property
    def thresholds(self) -> dict[str, Any]:
        """Those of the fleet, as ``Thresholds`` calls them."""
        return self.model_dump(exclude={"wakes", "each"})

    low_utilization_percent: Annotated[float, Field(gt=0, lt=100)] = _DEFAULTS.low_utilization_percent
    low_core_utilization_percent: Annotated[float, Field(gt=0, le=100)] = _DEFAULTS.low_core_utilization_percent
    wasted_usd_per_node_hour: Annotated[float, Field(ge=0)] = _DEFAULTS.wasted_usd_per_node_hour
    idle_usd_per_hour: Annotated[float, Field(ge=0)] | None = None
    without_job_minutes: Annotated[int, Field(ge=5, le=7 * 24 * 60)] | None = None
    hbm_percent: Annotated[float, Field(gt=0, le=100)] = _DEFAULTS.hbm_percent


class Gate(StrictModel):
    """What a node must show before it is given a job, beyond the devices, memory and EFA of its type."""

    required: bool = True
    """Whether a node that fails is kept from joining. Without it the node joins, and only says what failed."""
    driver: Annotated[str, Field(pattern=r"^\d{1,3}(\.\d{1,5}){1,3}$")] | None = None
    """Beginning of the Neuron driver's version, ``"2.25"``. Default: any."""
    tools: Annotated[str, Field(pattern=r"^\d{1,3}(\.\d{1,5}){1,3}$")] | None = None
    """Beginning of the Neuron tools' version. Default: any."""


class NegotiatedRate(StrictModel):
    """What an hour of a node costs by a contract; it goes before every price list."""

    usd_per_hour: Annotated[float, Field(gt=0, le=10_000)]
    contract: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^()\n]+$")]
    """Its name, as it is to be read in a page: ``EDP 2026``. Without parentheses."""
    as_of: date
    """The day on which somebody last looked into the contract."""


class _Fleet(StrictModel):
    name: Name
    owner: str
    instance_type: str
    nodes: Annotated[int, Field(ge=1, le=2000)]
    market: Market
    image_parameter: SsmName = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"
    """SSM parameter that holds the nodes' machine image; it must be an ECS image with the Neuron tools. Default: AWS's
    own. Whether that one carries the EFA driver could not be confirmed: a multi-node fleet may need an image that does.
    """
    efa: bool | None = None
    """Whether nodes talk over EFA. Default: when the instance type has it and the fleet trains on several nodes."""
    efa_layout: EfaLayout = EfaLayout.EFA
    """How EFA takes the network cards: with an IP address on each of them, or one for the whole node (untested by AWS
    on Trainium)."""
    placement_group: bool | None = None
    """Whether nodes, and the reservation made for them, lie in a cluster placement group. Default: where it helps."""
    alternative_types: tuple[str, ...] = ()
    """Types that could take the fleet's place, in order of preference."""
    neuron_sdk: Annotated[str, Field(pattern=r"^\d{1,2}\.\d{1,3}(\.\d{1,3})?$")] | None = None
    """Neuron SDK in the container, ``"2.28"``. Default: what the image's tag says, if it does."""
    framework: Framework | None = None
    """What runs the model; with the SDK it says which chips it runs on."""
    lnc: Lnc | None = None
    """Physical cores in one logical core. Default: the chip's."""
    dtype: Literal["bf16", "fp16", "fp8", "fp32"] = "bf16"
    """Data type whose peak utilization is measured against."""
    target_utilization_percent: Annotated[float, Field(gt=0, le=100)] = 40.0
    """Tensor-engine utilization that the fleet's owner calls good; waste is measured against it."""
    reports_flops: bool = True
    """Whether the node's neuron-monitor reports FLOP/s; old tools do not, and core utilization takes its place."""
    price: NegotiatedRate | None = None
    """What the fleet's owner has agreed on with AWS. Default: the published price of how it is bought."""
    gate: Gate = Gate()
    alarms: FleetAlarms = FleetAlarms()

    @property
    def market_kind(self) -> MarketKind:
        """How its nodes are bought."""
        return MarketKind(self.market.kind)


class Pool(StrictModel):
    """How a fleet with ``engine: pool`` looks after its nodes and jobs."""

    drain_minutes: Annotated[int, Field(ge=1, le=60)] = 10
    """How long a job that is told to end has to save its checkpoint. Of a Spot interruption two minutes are left."""
    idle_minutes: Annotated[int, Field(ge=0, le=24 * 60)] = 10
    """How long a node that no job wants is kept for the next one. Reserved nodes are always kept."""
    start_minutes: Annotated[int, Field(ge=5, le=120)] = 30
    """How long all of a job's containers may take to run, from the first on; images have 15 to 20 GB."""
    replace_percent: Annotated[int, Field(ge=1, le=50)] = 20
    """Share of the nodes that may be replaced at once because they are unhealthy; one node always may."""


class TrainingFleet(_Fleet):
    """Nodes for multi-node jobs, in one availability zone."""

    purpose: Literal["training"]
    availability_zone: str
    container_image: str
    engine: Engine = Engine.BATCH
    """AWS Batch, or an Auto Scaling group of the platform's own: for Spot, for nodes that stay, and for nodes that are
    replaced when they fail. docs/pool.md compares them."""
    pool: Pool | None = None
    """Only with ``engine: pool``. Default: that of each setting."""
    longest_job_hours: Annotated[int, Field(ge=1, le=24 * 182)] = 24 * 14
    """A job that runs longer is ended, unless its submission asks for less."""
    job_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """How often a job is started that its hosts failed; a job that fails by itself is not started again."""
    shares: dict[str, Annotated[float, Field(ge=0.01, le=100)]] = Field(default_factory=dict)
    """What an owner gets while others wait, in even shares: 2 is twice as much. Default: 1."""
    reads: Annotated[tuple[S3Place, ...], Field(max_length=10)] = ()
    """Where its jobs find data and models, ``s3://bucket/prefix``. Buckets with a key of their own need its policy."""
    writes: Annotated[tuple[S3Place, ...], Field(max_length=10)] = ()
    """Where its jobs keep checkpoints and results; they may read and delete there too."""

    @property
    def is_pool(self) -> bool:
        """Whether its nodes and jobs are the platform's own business, and not AWS Batch's."""
        return self.engine is Engine.POOL

    @property
    def reservation_id(self) -> str | None:
        """The existing reservation or block that its nodes are launched into, if the file names one."""
        return self.market.reservation_id if isinstance(self.market, Reservation | CapacityBlock) else None


def pool_settings(fleet: TrainingFleet) -> Pool:
    """The pool's settings: those of the file, or each one's default."""
    return fleet.pool or Pool()


def without_job_minutes(fleet: TrainingFleet) -> int:
    """For how long a node of ``fleet`` may have no job: as the file says, else by how it is bought and kept."""
    asked = fleet.alarms.without_job_minutes
    if asked is not None:
        return asked
    return patience_minutes(fleet.market_kind, kept_minutes=pool_settings(fleet).idle_minutes if fleet.is_pool else 0)


class InferenceFleet(_Fleet):
    """Nodes that serve one endpoint, over several availability zones."""

    purpose: Literal["inference"]
    endpoint: Endpoint

    @property
    def scaling(self) -> Scaling | None:
        """How its nodes follow the load; None where all of them always run."""
        return self.endpoint.scaling.plan(self.nodes) if self.endpoint.scaling else None

    @property
    def is_hosted(self) -> bool:
        """Whether SageMaker runs it: there are no nodes of ours, and no agent."""
        return self.endpoint.engine == "sagemaker"


Fleet = Annotated[TrainingFleet | InferenceFleet, Field(discriminator="purpose")]
