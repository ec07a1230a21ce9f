"""A node's minute as the ledger counts it."""

from dataclasses import dataclass

from fleet.ledger.categories import Category


@dataclass(frozen=True, slots=True, order=True)
class PaidPrice:
    """What an hour of a node costs: ``rate`` in millionths of a dollar, how it is bought, who says so, since when."""

    rate: int
    kind: str
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class JobPart:
    """One job's part of a node in a minute; ``job`` is None on a node without one, which its owner pays all the same.

    ``units`` of the minute: those of all parts are ``amounts.UNITS``. ``amount`` is None without a known price, and
    ``wasted``, the part of it that bought no useful work, where that cannot be said. ``useful_cores`` are ``cores``
    times tensor-engine utilization, ``busy_cores`` times core utilization; ``tokens`` and ``samples`` are the
    minute's. None is not measured.
    """

    job: str | None
    owner: str
    units: int
    amount: int | None
    wasted: int | None = None
    cores: float | None = None
    busy_cores: float | None = None
    useful_cores: float | None = None
    tokens: float | None = None
    samples: float | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class NodeMinute:
    """One log event. ``minute`` is its start in unix seconds; ``price`` is None where it is not known.

    ``recovered`` minutes were closed by the agent after the one that was killed in them. There is always a part.
    """

    environment: str
    fleet: str
    node: str
    instance_type: str | None
    minute: int
    boot_id: str
    seq: int
    category: Category
    price: PaidPrice | None
    parts: tuple[JobPart, ...]
    recovered: bool = False
