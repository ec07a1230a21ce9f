"""What a metric is to an alarm: a key, and one number for each period that has data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

Series = dict[int, float]
"""Value by the start of its period, in unix seconds; a period without data has no entry."""


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """A metric's identity: CloudWatch treats every different set of dimensions as another metric."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, namespace: str, name: str, dimensions: Iterable[Mapping[str, str]]) -> "SeriesKey":
        """From the API's list of ``{"Name", "Value"}``."""
        return cls(namespace, name, frozenset((each["Name"], each["Value"]) for each in dimensions))

    def dimension_list(self) -> list[dict[str, str]]:
        """The API's list of dimensions, in a stable order."""
        return [{"Name": name, "Value": value} for name, value in sorted(self.dimensions)]


class SeriesSource(Protocol):
    """Where datapoints come from."""

    def values(
        self, key: SeriesKey, statistic: str, start: int, end: int, period: int, unit: str | None = None
    ) -> Series:
        """``statistic`` of each ``period`` seconds of ``[start, end)``; the first period begins at ``start``.

        ``unit`` leaves out datums of another unit. A series that does not exist is empty.
        """
