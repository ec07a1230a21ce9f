"""What each instance type is: accelerators, cores, HBM, network cards, EFA, offerings and dated prices.

The figures live in ``data/instances.json``, where each price has its date and names an entry of ``sources``. HBM is
that of the Neuron documentation and never of DescribeInstanceTypes, which reports 512 GiB for a 96 GiB Trainium2.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final

GIB: Final = 1024**3


class UnknownInstanceTypeError(ValueError):
    """An instance type that EC2 does not have; the message says what is meant instead."""


class PriceKind(StrEnum):
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
class Accelerator:
    """One chip. ``cores`` are physical NeuronCores (0 for a GPU); peaks are dense TFLOP/s by data type."""

    model: str
    vendor: str
    neuroncore_version: str | None
    cores: int
    memory_bytes: int
    lnc_supported: tuple[int, ...]
    default_lnc: int
    peak_tflops: Mapping[str, float]


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
    prices: tuple[Price, ...]

    @property
    def family(self) -> str:
        """The part before the dot: ``trn1n`` of ``trn1n.32xlarge``."""
        return self.name.partition(".")[0]

    @property
    def is_neuron(self) -> bool:
        """Whether the accelerators are AWS's own."""
        return self.accelerator.vendor == "aws"

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


# Tensor-engine peak of one physical core, dense TFLOP/s, from the NKI architecture guides of the Neuron
# documentation. The chip figures are a little higher (667 for Trainium2, against 8 x 79): utilization is defined
# against the engine, because that is what a kernel can fill.
TENSOR_ENGINE_PEAK_TFLOPS: Final[Mapping[str, Mapping[str, float]]] = {
    "v2": {"bf16": 92.0, "fp16": 92.0, "tf32": 92.0, "fp8": 92.0, "fp32": 23.0},
    "v3": {"bf16": 79.0, "fp16": 79.0, "fp8": 158.0, "fp32": 20.0},
}


def tensor_engine_peak_flops(neuroncore_version: str, dtype: str, lnc: int) -> float | None:
    """Peak FLOP/s of one logical core, or None for a core version or data type without a documented figure.

    Newer tools write ``v3d`` for version 3 cores that are grouped in twos; ``lnc`` carries that factor.
    """
    peaks = TENSOR_ENGINE_PEAK_TFLOPS.get(neuroncore_version.removesuffix("d"), {})
    per_core = peaks.get(dtype)
    return None if per_core is None else per_core * lnc * 1e12


@cache
def catalogue() -> Mapping[str, InstanceType]:
    """Every known instance type by name."""
    data = _data()
    accelerators = {model: _accelerator(model, entry) for model, entry in data["accelerators"].items()}
    return {
        name: _instance_type(name, entry, accelerators[entry["accelerator"]])
        for name, entry in data["instances"].items()
    }


def instance_type(name: str) -> InstanceType:
    """The instance type called ``name``.

    Raises:
        UnknownInstanceTypeError: EC2 has no such type; the message names the nearest one that exists.
    """
    known = catalogue()
    if name in known:
        return known[name]
    explained = _data()["nonexistent"].get(name)
    if explained is None:
        close = get_close_matches(name, known, n=1)
        explained = f"did you mean {close[0]}?" if close else f"known types: {', '.join(sorted(known))}"
    raise UnknownInstanceTypeError(f"{name} is not an instance type: {explained}")


@cache
def _data() -> dict[str, Any]:
    text = files("fleet").joinpath("data/instances.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def _accelerator(model: str, entry: dict[str, Any]) -> Accelerator:
    return Accelerator(
        model=model,
        vendor=entry["vendor"],
        neuroncore_version=entry["neuroncore_version"],
        cores=entry["cores"],
        memory_bytes=int(entry["memory_gib"] * GIB),
        lnc_supported=tuple(entry["lnc_supported"]),
        default_lnc=entry["default_lnc"],
        peak_tflops=entry["peak_tflops"],
    )


def _instance_type(name: str, entry: dict[str, Any], accelerator: Accelerator) -> InstanceType:
    return InstanceType(
        name=name,
        accelerator=accelerator,
        devices=entry["devices"],
        vcpus=entry["vcpus"],
        memory_gib=entry["memory_gib"],
        nvme_gb=entry["nvme_gb"],
        network_cards=entry["network_cards"],
        enis_per_card=entry["enis_per_card"],
        efa_interfaces=entry["efa_interfaces"],
        efa_generation=entry["efa_generation"],
        usage_classes=frozenset(entry["usage_classes"]),
        regions=frozenset(entry["regions"]),
        availability_zone_ids=frozenset(entry["availability_zone_ids"]),
        offerings_as_of=entry["offerings_as_of"],
        capacity_block_regions=frozenset(entry["capacity_block_regions"]),
        quotas=entry["quotas"],
        prices=tuple(_price(price) for price in entry["prices"]),
    )


def _price(entry: dict[str, Any]) -> Price:
    source = _data()["sources"][entry["source"]]
    named = {"kind": PriceKind(entry["kind"]), "source": source["label"], "provenance": source["provenance"]}
    return Price(**{**entry, **named})
