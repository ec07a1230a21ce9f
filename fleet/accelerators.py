"""What a chip can do: its NeuronCores, their engines and SDKs, memory, grouping, and how neuron-monitor names it.

Rules ask for these capabilities and never for a chip's name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fleet.neuron_software import Framework, FrameworkSupport, Sdk, framework_support, optional_sdk

GIB: Final = 1024**3


@dataclass(frozen=True, slots=True)
class NeuronCore:
    """One version of the cores. ``generation`` is ordered: a later one is a higher number.

    ``tensor_engine_tflops`` is the peak of one physical core, dense TFLOP/s, from the NKI architecture guides of the
    Neuron documentation. The chip figures are a little higher (667 for Trainium2, against 8 x 79): utilization is
    defined against the engine, because that is what a kernel can fill.
    """

    version: str
    generation: int
    tensor_engine_tflops: Mapping[str, float]
    first_sdk: Sdk | None
    """The first Neuron SDK that knows it; None: every SDK that is still used does."""
    last_driver: str | None
    """The last Neuron driver that supports it; None: the newest does."""
    splits_models: bool
    """Whether its runtime splits a model over cores by tensor parallelism."""
    frameworks: Mapping[Framework, FrameworkSupport]


@dataclass(frozen=True, slots=True)
class MonitorNames:
    """Type and version of a device as neuron-monitor writes them; the version is not the core's."""

    device_type: str
    device_version: str


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One chip. ``cores`` are physical NeuronCores (0 for a GPU); peaks are dense TFLOP/s by data type."""

    model: str
    vendor: str
    core: NeuronCore | None
    """None for a GPU."""
    cores: int
    memory_bytes: int
    lnc_supported: tuple[int, ...]
    default_lnc: int
    peak_tflops: Mapping[str, float]
    trains: bool
    """Whether it is made for training; every chip serves."""
    tensor_groups_stay_on_chip: bool
    """Whether the Neuron documentation advises to keep a tensor-parallel group within one chip."""
    monitor: MonitorNames | None
    """None where no report of such a device is known."""

    @property
    def neuroncore_version(self) -> str | None:
        """``v3``; None for a GPU."""
        return None if self.core is None else self.core.version


def neuron_core(version: str, entry: Mapping[str, Any]) -> NeuronCore:
    """As the data file has it."""
    return NeuronCore(
        version=version,
        generation=entry["generation"],
        tensor_engine_tflops=entry["tensor_engine_tflops"],
        first_sdk=optional_sdk(entry["first_sdk"]),
        last_driver=entry["last_driver"],
        splits_models=entry["splits_models"],
        frameworks={each: framework_support(entry["frameworks"][each]) for each in Framework},
    )


def accelerator(data: Mapping[str, Any], model: str) -> Accelerator:
    """As the data file has it. What is said of Neuron chips alone is false or None of a GPU."""
    entry = data["accelerators"][model]
    version, monitor = entry["neuroncore_version"], entry.get("monitor")
    return Accelerator(
        model=model,
        vendor=entry["vendor"],
        core=None if version is None else neuron_core(version, data["neuroncores"][version]),
        cores=entry["cores"],
        memory_bytes=int(entry["memory_gib"] * GIB),
        lnc_supported=tuple(entry["lnc_supported"]),
        default_lnc=entry["default_lnc"],
        peak_tflops=entry["peak_tflops"],
        trains=entry.get("trains", False),
        tensor_groups_stay_on_chip=entry.get("tensor_groups_stay_on_chip", False),
        monitor=None if monitor is None else MonitorNames(monitor["device_type"], monitor["device_version"]),
    )
