"""One line of a month's bill: a quantity, a unit price with its date, and what both rest on."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from planning.month.prices import ServicePrice, service_price


class Group(StrEnum):
    """What a line belongs to, in the order of a bill."""

    CAPACITY = "capacity"
    NETWORK = "network"
    STORAGE = "storage"
    FUNCTIONS = "functions"
    CLOUDWATCH = "cloudwatch"


@dataclass(frozen=True, slots=True)
class Spread:
    """The same figure as it may be low, as it is expected, and as it may be high."""

    low: float
    expected: float
    high: float

    @classmethod
    def certain(cls, figure: float) -> Self:
        """One that does not depend on use."""
        return cls(figure, figure, figure)

    def of_each(self, function: Callable[[float], float]) -> "Spread":
        """``function`` of all three."""
        return Spread(function(self.low), function(self.expected), function(self.high))

    def __add__(self, other: "Spread") -> "Spread":
        """Low with low, expected with expected, high with high."""
        return Spread(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __sub__(self, other: "Spread") -> "Spread":
        """How far each of the three is above that of the other."""
        return Spread(self.low - other.low, self.expected - other.expected, self.high - other.high)

    def times(self, other: "Spread") -> "Spread":
        """Low times low, expected times expected, high times high."""
        return Spread(self.low * other.low, self.expected * other.expected, self.high * other.high)

    def __mul__(self, factor: float) -> "Spread":
        """Each of the three, so many times."""
        return self.of_each(lambda figure: figure * factor)


NOTHING = Spread(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Line:
    """``quantity`` of ``unit`` in a month at ``unit_usd`` make ``usd``; ``price`` names kind, date and source.

    ``usd`` is not always the product: tiers make it less. ``because`` says what the quantity rests on.
    """

    group: Group
    what: str
    quantity: Spread
    unit: str
    unit_usd: float
    usd: Spread
    price: str
    because: str


def priced_line(group: Group, what: str, quantity: Spread, price: str | ServicePrice, because: str) -> Line:
    """A line at one of the service prices, ``price`` or the one that it names."""
    found = service_price(price) if isinstance(price, str) else price
    return Line(group, what, quantity, found.unit, found.usd, quantity * found.usd, found.label, because)
