"""Which facts ``data/instances.json`` must state of an instance type before anything judges it, and which it does not.

A type with a gap is not in the catalogue: no rule may take what nobody stated for a no, or for a yes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from fleet.neuron_software import Framework

FILE: Final = "fleet/data/instances.json"
_INSTANCE: Final = (
    "accelerator",
    "devices",
    "vcpus",
    "memory_gib",
    "nvme_gb",
    "network_cards",
    "enis_per_card",
    "efa_interfaces",
    "efa_generation",
    "usage_classes",
    "regions",
    "availability_zone_ids",
    "offerings_as_of",
    "capacity_block_regions",
    "quotas",
    "prices",
)
_NEURON_INSTANCE: Final = ("on_demand_obtainable", "ultraserver_nodes", "sagemaker_hosting_quota")
_QUOTAS: Final = ("on-demand", "spot")
_PRICE: Final = ("kind", "usd_per_hour", "region", "as_of", "source")
_SOURCE: Final = ("label", "provenance")
_ACCELERATOR: Final = (
    "vendor",
    "neuroncore_version",
    "cores",
    "memory_gib",
    "lnc_supported",
    "default_lnc",
    "peak_tflops",
)
_NEURON_ACCELERATOR: Final = ("trains", "tensor_groups_stay_on_chip", "monitor")
_MONITOR: Final = ("device_type", "device_version")
_CORE: Final = ("generation", "tensor_engine_tflops", "first_sdk", "last_driver", "splits_models", "frameworks")
_FRAMEWORK: Final = ("sdks", "maintenance", "source")
_SDKS: Final = ("first", "last")
_MAINTENANCE: Final = ("purpose", "since", "fix")
# Null is a statement of these: there is none. Anywhere else it is a gap, like a key that is not there.
_MAY_BE_NULL: Final = frozenset(
    {
        "ultraserver_nodes",
        "sagemaker_hosting_quota",
        "monitor",
        "first_sdk",
        "last_driver",
        "sdks",
        "maintenance",
        *_SDKS,
        *_QUOTAS,
    }
)
Entry = Mapping[str, Any]


def missing_facts(data: Entry, name: str) -> tuple[str, ...]:
    """What the file does not state of the type ``name``, of its chip or of its cores; each as its place in the file."""
    return tuple(_of_type(data, data["instances"][name], f"instances.{name}"))


def unverified_facts(data: Entry, name: str) -> tuple[str, ...]:
    """What the file states of the type, its chip and its cores without AWS's word for it, by its place in the file."""
    entry = data["instances"][name]
    model, chip = entry["accelerator"], data["accelerators"][entry["accelerator"]]
    core = data["neuroncores"].get(chip["neuroncore_version"], {})
    doubted = {
        f"instances.{name}": entry,
        f"accelerators.{model}": chip,
        f"neuroncores.{chip['neuroncore_version']}": core,
    }
    return tuple(f"{path}.{fact}" for path, of in doubted.items() for fact in of.get("unverified", ()))


def _of_type(data: Entry, entry: Entry, path: str) -> Iterator[str]:
    without_efa = entry.get("efa_interfaces") == 0
    yield from _gaps(entry, path, _INSTANCE, null={"efa_generation"} if without_efa else ())
    yield from _quotas(data, entry.get("quotas") or {}, f"{path}.quotas")
    for index, price in enumerate(entry.get("prices") or ()):
        yield from _gaps(price, f"{path}.prices[{index}]", _PRICE)
        yield from _inner(data["sources"], "sources", price.get("source"), _SOURCE)
    model = entry.get("accelerator")
    if model is None:
        return
    chip = data["accelerators"].get(model)
    if chip is None:
        yield f"accelerators.{model}"
        return
    yield from _of_chip(data, chip, f"accelerators.{model}")
    if _is_neuron(chip):
        yield from _gaps(entry, path, _NEURON_INSTANCE)


def _is_neuron(chip: Entry) -> bool:
    """As far as the entry says: one that names neither its vendor nor its cores is held to be one."""
    return chip.get("neuroncore_version") is not None or chip.get("vendor") in (None, "aws")


def _quotas(data: Entry, quotas: Entry, path: str) -> Iterator[str]:
    if quotas:
        yield from _gaps(quotas, path, _QUOTAS)
    for code in filter(None, quotas.values()):
        if code not in data["quota_names"]:
            yield f"quota_names.{code}"


def _of_chip(data: Entry, chip: Entry, path: str) -> Iterator[str]:
    is_neuron = _is_neuron(chip)
    yield from _gaps(chip, path, _ACCELERATOR, null=() if is_neuron else {"neuroncore_version"})
    if not is_neuron:
        return
    yield from _gaps(chip, path, _NEURON_ACCELERATOR)
    yield from _gaps(chip.get("monitor"), f"{path}.monitor", _MONITOR)
    version = chip.get("neuroncore_version")
    if version is None:
        return
    core = data["neuroncores"].get(version)
    if core is None:
        yield f"neuroncores.{version}"
        return
    yield from _gaps(core, f"neuroncores.{version}", _CORE)
    for framework in Framework if core.get("frameworks") is not None else ():
        yield from _of_framework(core["frameworks"], f"neuroncores.{version}.frameworks", framework)


def _of_framework(frameworks: Entry, path: str, framework: Framework) -> Iterator[str]:
    yield from _inner(frameworks, path, framework, _FRAMEWORK)
    entry = frameworks.get(framework) or {}
    yield from _gaps(entry.get("sdks"), f"{path}.{framework}.sdks", _SDKS)
    yield from _gaps(entry.get("maintenance"), f"{path}.{framework}.maintenance", _MAINTENANCE)


def _inner(entries: Entry, path: str, name: str | None, facts: Iterable[str]) -> Iterator[str]:
    if name is None:
        return
    if entries.get(name) is None:
        yield f"{path}.{name}"
    yield from _gaps(entries.get(name), f"{path}.{name}", facts)


def _gaps(entry: Entry | None, path: str, facts: Iterable[str], null: Iterable[str] = ()) -> Iterator[str]:
    """Nothing of an entry that is not there: whoever asks has said that already."""
    for fact in facts if entry is not None else ():
        stated = entry is not None and fact in entry and (entry[fact] is not None or fact in {*_MAY_BE_NULL, *null})
        if not stated:
            yield f"{path}.{fact}"
