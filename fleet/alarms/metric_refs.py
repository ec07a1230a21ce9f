"""What an alarm reads: series of CloudWatch, one by one or in an expression, refused where nobody publishes them."""

import re
from dataclasses import dataclass
from typing import Final

from fleet import FleetError, metrics, operations_metrics

_STATISTIC: Final = re.compile(r"Average|Minimum|Maximum|p\d{1,2}(\.\d+)?")


class AlarmSpecError(FleetError, ValueError):
    """An alarm that would never fire, or fire at the wrong time; the message names the alarm or the metric."""


@dataclass(frozen=True, slots=True)
class MetricRef:
    """One series and one statistic of it, by the minute. There is no unit: a wrong one would blind the alarm.

    Raises:
        AlarmSpecError: the dimensions are not a set that the catalogue publishes, or the statistic cannot be trusted.
    """

    namespace: str
    name: str
    statistic: str
    dimensions: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        if self.namespace == operations_metrics.NAMESPACE:
            self._check_operations()
        if self.namespace == metrics.NAMESPACE:
            self._check_fleet()

    @property
    def names(self) -> tuple[str, ...]:
        """Of the metrics that it reads: one."""
        return (self.name,)

    def _check_operations(self) -> None:
        names = tuple(name for name, _ in self.dimensions)
        if self.name not in operations_metrics.CATALOGUE or names != (operations_metrics.ENVIRONMENT,):
            raise AlarmSpecError(f"no function publishes {self.name} with dimensions {names}")

    def _check_fleet(self) -> None:
        spec = metrics.CATALOGUE.get(self.name)
        if spec is None:
            raise AlarmSpecError(f"{self.name} is not in the metric catalogue")
        names = tuple(name for name, _ in self.dimensions)
        if names not in spec.dimension_sets:
            raise AlarmSpecError(f"{self.name} is not published with dimensions {names}, but {spec.dimension_sets}")
        if not _STATISTIC.fullmatch(self.statistic):
            raise AlarmSpecError(
                f"{self.name}: {self.statistic} doubles when a batch is sent twice; use Maximum or pNN"
            )
        if spec.kind is metrics.Kind.STATISTICS and self.statistic.startswith("p"):
            raise AlarmSpecError(f"{self.name} is published as a statistic set, which keeps no {self.statistic}")


@dataclass(frozen=True, slots=True)
class MathRef:
    """A metric math expression over named series; it must come down to one series."""

    expression: str
    queries: tuple[tuple[str, MetricRef], ...]

    def __post_init__(self) -> None:
        for identifier, _ in self.queries:
            if not re.search(rf"\b{identifier}\b", self.expression):
                raise AlarmSpecError(f"{identifier} is not used in {self.expression!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """Of the metrics that it reads."""
        return tuple(ref.name for _, ref in self.queries)
