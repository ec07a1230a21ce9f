"""The budgets that the platform's design sets itself for CloudWatch, and whether it keeps them."""

from dataclasses import dataclass
from typing import Final

from planning.month.cloudwatch import SERIES_OF_A_FLEET, SERIES_OF_A_JOB, SERIES_OF_EFA, Watching, watching_usd
from planning.month.cloudwatch import event_bytes as bytes_of
from planning.month.prices import MINUTES, service_price

# Cores of a trn1.32xlarge, which the budgets are for.
CORES: Final = 32


@dataclass(frozen=True, slots=True)
class DesignBudget:
    """``usd`` a month for metrics and node events of so many trn1.32xlarge in so many jobs, in one fleet or several."""

    nodes: int
    jobs: int
    fleets: int
    usd: float

    @property
    def expected_usd(self) -> float:
        """With what agents publish by themselves: 12 metrics of each job."""
        return self._with(SERIES_OF_A_JOB.low)

    @property
    def with_workload_usd(self) -> float:
        """With tokens and loss of every job besides."""
        return self._with(SERIES_OF_A_JOB.expected)

    @property
    def requests_usd(self) -> float:
        """Of PutMetricData, one request a node and minute: the budget's formula leaves them out."""
        return self.nodes * MINUTES * service_price("cloudwatch-request").usd

    def _with(self, series_of_a_job: float) -> float:
        of_fleets = self.fleets * (SERIES_OF_A_FLEET.expected + SERIES_OF_EFA)
        size = bytes_of(CORES).expected
        return watching_usd(Watching(self.nodes, self.jobs, series_of_a_job, of_fleets, size))


DESIGN_BUDGETS: Final = (DesignBudget(128, 8, 1, 60.0), DesignBudget(2_000, 125, 2, 720.0))
