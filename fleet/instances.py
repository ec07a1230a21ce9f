"""What each instance type is: accelerators, cores, HBM, network cards, EFA, offerings and dated prices.

The figures live in ``data/instances.json``, where each price has its date and names an entry of ``sources``. HBM is
that of the Neuron documentation and never of DescribeInstanceTypes, which reports 512 GiB for a 96 GiB Trainium2.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, Final

from fleet import FleetError
from fleet.accelerators import Accelerator, accelerator
from fleet.instance_facts import FILE, missing_facts, unverified_facts
from fleet.string_enum import StringEnum

_SETS: Final = ("usage_classes", "regions", "availability_zone_ids", "capacity_block_regions")
_AS_WRITTEN: Final = (
    *("devices", "vcpus", "memory_gib", "nvme_gb", "quotas", "offerings_as_of"),
    *("network_cards", "enis_per_card", "efa_interfaces", "efa_generation"),
)


class UnknownInstanceTypeError(FleetError, ValueError):
    """An instance type that EC2 does not have; ``fix`` says what is meant instead, ``code`` is the diagnostic's."""

    code = "unknown-instance-type"

    def __init__(self, what: str, fix: str) -> None:
        self.what, self.fix = what, fix
        super().__init__(f"{what}: {fix}")


class IncompleteInstanceTypeError(UnknownInstanceTypeError):
    """An instance type of which the data file does not state a fact that something here has to know."""

    code = "instance-type-incomplete"

    def __init__(self, name: str, missing: tuple[str, ...]) -> None:
        what = f"{name} cannot be judged, because {FILE} does not state {', '.join(missing)}"
        super().__init__(what, "complete it there")


class PriceKind(StringEnum):
    """How an hour is bought. SageMaker hosting has SageMaker's surcharge; a negotiated rate is of a contract."""

    ON_DEMAND = "on-demand"
    CAPACITY_BLOCK = "capacity-block"
    SPOT = "spot"
    RESERVED = "reserved"
    SAVINGS_PLAN = "savings-plan"
    NEGOTIATED = "negotiated"
    SAGEMAKER_HOSTING = "sagemaker-hosting"


@dataclass(frozen=True, slots=True)
class Price:
    """USD per instance-hour, Linux, shared tenancy; ``as_of`` is an ISO date or month.

    ``source`` is short enough to be read in a page; ``provenance`` says where exactly the figure was found.
    """

    kind: PriceKind
    usd_per_hour: float
    region: str
    as_of: str
    source: str
    provenance: str


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One EC2 instance type, as offered on ``offerings_as_of``."""

    name: str
    accelerator: Accelerator
    devices: int
    vcpus: int
    memory_gib: float
    nvme_gb: int
    network_cards: int
    enis_per_card: int
    efa_interfaces: int
    efa_generation: str | None
    usage_classes: frozenset[str]
    regions: frozenset[str]
    availability_zone_ids: frozenset[str]
    offerings_as_of: str
    capacity_block_regions: frozenset[str]
    quotas: Mapping[str, str | None]
    on_demand_obtainable: bool
    """Whether requests for it on demand are answered, as far as anybody has told."""
    ultraserver_nodes: int | None
    """Instances of it that one UltraServer joins; None: it is in none."""
    sagemaker_hosting_quota: str | None
    """Code of the quota that counts it in endpoints that SageMaker hosts; None: this platform has none there."""
    unverified: tuple[str, ...]
    """Places in the data file of what AWS has not confirmed."""
    prices: tuple[Price, ...]

    @property
    def family(self) -> str:
        """The part before the dot: ``trn1n`` of ``trn1n.32xlarge``."""
        return self.name.partition(".")[0]

    @property
    def is_neuron(self) -> bool:
        """Whether the accelerators are AWS's own."""
        return self.accelerator.core is not None

    @property
    def physical_cores(self) -> int:
        """NeuronCores of the whole instance, before logical grouping."""
        return self.devices * self.accelerator.cores

    def logical_cores(self, lnc: int | None = None) -> int:
        """Cores that software sees with ``lnc`` physical cores grouped into one (default: the chip's)."""
        return self.physical_cores // (lnc or self.accelerator.default_lnc)

    @property
    def hbm_bytes(self) -> int:
        """Accelerator memory of the whole instance."""
        return self.devices * self.accelerator.memory_bytes


def tensor_engine_peak_flops(neuroncore_version: str, dtype: str, lnc: int) -> float | None:
    """Peak FLOP/s of one logical core, or None for a core version or data type without a documented figure.

    Newer tools write ``v3d`` for version 3 cores that are grouped in twos; ``lnc`` carries that factor.
    """
    core = _data()["neuroncores"].get(neuroncore_version.removesuffix("d"), {})
    per_core = core.get("tensor_engine_tflops", {}).get(dtype)
    return None if per_core is None else per_core * lnc * 1e12


@cache
def catalogue() -> Mapping[str, InstanceType]:
    """Every known instance type by name, but for those of which the data file leaves something out."""
    data = _data()
    return {name: _instance_type(data, name) for name in data["instances"] if name not in incomplete_types()}


@cache
def incomplete_types() -> Mapping[str, tuple[str, ...]]:
    """The types of which the data file leaves something out, by name: what that is."""
    data = _data()
    return {name: missing for name in data["instances"] if (missing := missing_facts(data, name))}


def instance_type(name: str) -> InstanceType:
    """The instance type called ``name``.

    Raises:
        IncompleteInstanceTypeError: the data file leaves something out; the message names it.
        UnknownInstanceTypeError: EC2 has no such type; the message names the nearest one that exists.
    """
    known = catalogue()
    if name in known:
        return known[name]
    if name in incomplete_types():
        raise IncompleteInstanceTypeError(name, incomplete_types()[name])
    explained = _data()["nonexistent"].get(name)
    if explained is None:
        close = get_close_matches(name, known, n=1)
        explained = f"did you mean {close[0]}?" if close else f"known types: {', '.join(sorted(known))}"
    raise UnknownInstanceTypeError(f"{name} is not an instance type", explained)


def core_groupings() -> tuple[int, ...]:
    """How many physical cores some chip groups into one, fewest first; which of them a chip can is the chip's."""
    chips = _data()["accelerators"].values()
    return tuple(sorted({cores for chip in chips for cores in chip.get("lnc_supported", ())}))


def quota_names() -> Mapping[str, str]:
    """What Service Quotas calls the quotas of EC2 that count instances, by code."""
    names: Mapping[str, str] = _data()["quota_names"]
    return names


@cache
def _data() -> dict[str, Any]:
    text = files("fleet").joinpath("data/instances.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def _instance_type(data: dict[str, Any], name: str) -> InstanceType:
    entry = data["instances"][name]
    as_written: dict[str, Any] = {fact: entry[fact] for fact in _AS_WRITTEN}
    as_written |= {fact: frozenset(entry[fact]) for fact in _SETS}
    return InstanceType(
        name=name,
        accelerator=accelerator(data, entry["accelerator"]),
        on_demand_obtainable=entry.get("on_demand_obtainable", True),
        ultraserver_nodes=entry.get("ultraserver_nodes"),
        sagemaker_hosting_quota=entry.get("sagemaker_hosting_quota"),
        unverified=unverified_facts(data, name),
        prices=tuple(_price(data, price) for price in entry["prices"]),
        **as_written,
    )


def _price(data: dict[str, Any], entry: dict[str, Any]) -> Price:
    source = data["sources"][entry["source"]]
    named = {"kind": PriceKind(entry["kind"]), "source": source["label"], "provenance": source["provenance"]}
    return Price(**{**entry, **named})
