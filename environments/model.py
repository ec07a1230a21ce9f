"""The shape of an environment file. Frozen, and every unknown key is an error.

Rules that need the instance catalogue (does the type exist, does the region offer it, has it EFA) belong to
``fleet.capacity``; ``loader.load`` applies both and answers with one line for each mistake.
"""

from typing import Annotated

from pydantic import Field

from environments.budgets import Budgets, Principal
from environments.fleets import Fleet, InferenceFleet, Name, TrainingFleet
from environments.maintenance import Window
from environments.markets import CapacityBlock
from environments.monitoring import Monitoring
from environments.network import Network
from environments.paging import Paging
from environments.strict_model import StrictModel
from fleet.budgets.spending import StopMode, may_be_stopped
from fleet.fleet_spec import Purpose

AccountId = Annotated[str, Field(pattern=r"^\d{12}$")]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]


class Environment(StrictModel):
    """One account and region, and all that is deployed there."""

    name: Name
    account: AccountId
    region: Region
    owner: str
    network: Network
    fleets: Annotated[tuple[Fleet, ...], Field(min_length=1)]
    paging: Paging
    approvers: Annotated[tuple[Principal, ...], Field(max_length=10)] = ()
    """IAM users and roles who may approve the purchase of a Capacity Block. Default: nobody, and none can be bought."""
    budgets: Budgets | None = None
    """What a month may cost. Default: as much as it costs, and AWS Budgets and the forecast say nothing."""
    monitoring: Monitoring = Monitoring()
    maintenance: tuple[Window, ...] = ()
    """Windows in which the alarms of fleets tell nobody."""
    retain_data: bool = True
    """Keep file systems, buckets and logs when a stack is deleted."""
    plain_http: bool = False
    """Allow listeners without TLS; for an environment that nothing outside can reach."""

    @property
    def training_fleets(self) -> tuple[TrainingFleet, ...]:
        """The fleets that train."""
        return tuple(fleet for fleet in self.fleets if isinstance(fleet, TrainingFleet))

    @property
    def batch_fleets(self) -> tuple[TrainingFleet, ...]:
        """The training fleets that AWS Batch runs."""
        return tuple(fleet for fleet in self.training_fleets if not fleet.is_pool)

    @property
    def pool_fleets(self) -> tuple[TrainingFleet, ...]:
        """The training fleets that the platform runs itself."""
        return tuple(fleet for fleet in self.training_fleets if fleet.is_pool)

    @property
    def block_fleets(self) -> tuple[TrainingFleet, ...]:
        """The training fleets in Capacity Blocks of instances; those of UltraServers are reached by a group."""
        return tuple(
            fleet
            for fleet in self.training_fleets
            if isinstance(fleet.market, CapacityBlock) and fleet.market.resource_group is None
        )

    @property
    def forecast_percent(self) -> float | None:
        """How much of a budget the forecast may be; None without budgets."""
        return self.budgets.forecast_percent if self.budgets else None

    @property
    def stoppable_fleets(self) -> tuple[TrainingFleet, ...]:
        """The fleets that a used-up budget may stop; none where the file wants no stop."""
        if self.budgets is None or self.budgets.stop is StopMode.NEVER:
            return ()
        return tuple(
            fleet for fleet in self.training_fleets if may_be_stopped(Purpose(fleet.purpose), fleet.market_kind)
        )

    @property
    def inference_fleets(self) -> tuple[InferenceFleet, ...]:
        """The fleets that serve from nodes of their own."""
        return tuple(fleet for fleet in self.fleets if isinstance(fleet, InferenceFleet) and not fleet.is_hosted)

    @property
    def hosted_fleets(self) -> tuple[InferenceFleet, ...]:
        """The fleets that SageMaker serves."""
        return tuple(fleet for fleet in self.fleets if isinstance(fleet, InferenceFleet) and fleet.is_hosted)

    @property
    def fleets_with_dashboards(self) -> tuple[str, ...]:
        """The names of the fleets whose endpoint has a dashboard of its own."""
        serving = (*self.inference_fleets, *self.hosted_fleets)
        return tuple(fleet.name for fleet in serving) if self.monitoring.endpoint_dashboards else ()

    @property
    def node_fleets(self) -> tuple[TrainingFleet | InferenceFleet, ...]:
        """The fleets with nodes, and an agent on each: all but those that SageMaker serves."""
        return tuple(fleet for fleet in self.fleets if not (isinstance(fleet, InferenceFleet) and fleet.is_hosted))
