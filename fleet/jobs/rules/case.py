"""What a rule about a job looks at: the job, its fleet, the fleet's instance type, and what is known of the moment."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from fleet.blocks.life import Block, seconds_for_job
from fleet.diagnostics import Diagnostic
from fleet.fleet_spec import FleetSpec
from fleet.instances import InstanceType
from fleet.jobs.forecast import Forecast, Throughput, forecast
from fleet.jobs.job import Job


@dataclass(frozen=True, slots=True)
class Standing:
    """What somebody looked up; a rule about something that nobody did is silent."""

    now: datetime | None = None
    block: Block | None = None
    """The Capacity Block that the job would run in."""
    image_exists: bool | None = None
    """Whether the registry has the image."""
    throughput: Throughput | None = None
    longest_hours: float | None = None
    """What the fleet's owner lets a job take."""
    writable: tuple[str, ...] | None = None
    """Places in S3 that the fleet's entry lets its jobs write to; None: nobody looked."""


@dataclass(frozen=True, slots=True)
class JobCase:
    """One job to judge."""

    job: Job
    spec: FleetSpec
    known: InstanceType
    standing: Standing

    @property
    def cores_per_node(self) -> int:
        """Logical cores of a node that the job uses: one rank on each."""
        return self.logical_cores if self.job.cores_per_node is None else self.job.cores_per_node

    @property
    def logical_cores(self) -> int:
        """Logical cores that a node has."""
        return self.known.logical_cores(self.spec.lnc)

    @property
    def world_size(self) -> int:
        """Ranks of the whole job."""
        return self.job.nodes * self.cores_per_node

    @property
    def model_size(self) -> int:
        """Ranks that hold one copy of the model."""
        return self.job.parallel.tensor * self.job.parallel.pipeline

    @property
    def forecast(self) -> Forecast | None:
        """Hours and dollars, where the pace and the tokens are known and make sense."""
        wanted, throughput = self.job.tokens_wanted, self.standing.throughput
        if throughput is None or wanted is None or not 0 < wanted < float("inf"):
            return None
        return forecast(self.job, self.spec, throughput)

    @property
    def seconds_of_block(self) -> int | None:
        """How long it may run in the block if it starts now; None: there is no block, or nobody knows the time."""
        standing = self.standing
        if standing.block is None or standing.now is None:
            return None
        return seconds_for_job(standing.block, max(standing.now, standing.block.start)) or 0


JobRule = Callable[[JobCase], Iterator[Diagnostic]]
