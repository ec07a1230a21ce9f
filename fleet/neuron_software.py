"""The libraries that run models on NeuronCores, and with which Neuron SDKs a version of the cores has each of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet.string_enum import StringEnum

Sdk = tuple[int, int]


class Framework(StringEnum):
    """The library that runs the model; which Neuron SDK still has it, and for which chip, differs between them."""

    NXD_INFERENCE = "nxd-inference"
    NXD_TRAINING = "nxd-training"
    TORCH_XLA = "torch-xla"
    VLLM = "vllm"
    JAX = "jax"


@dataclass(frozen=True, slots=True)
class SdkRange:
    """The SDKs from ``first`` to ``last``, both with it; None: no bound on that side."""

    first: Sdk | None
    last: Sdk | None


@dataclass(frozen=True, slots=True)
class Maintenance:
    """From ``since`` on there are security fixes only for fleets of that ``purpose``."""

    purpose: str
    since: Sdk
    fix: str


@dataclass(frozen=True, slots=True)
class FrameworkSupport:
    """One library on one version of NeuronCores. ``sdks`` None: no SDK runs it there."""

    sdks: SdkRange | None
    maintenance: Maintenance | None
    source: str
    code: str | None
    """Of the diagnostic that refuses it, where it is another than the rule's own."""
    only_warns: bool
    """Whether it is a warning where no SDK runs it: cores with libraries of their own, such as torch-neuron on
    Inferentia (1), which are no framework here."""
    instead: str
    """What to do where it does not run; empty: nothing is known."""


def framework_support(entry: Mapping[str, Any]) -> FrameworkSupport:
    """As the data file has it."""
    sdks, maintenance = entry["sdks"], entry["maintenance"]
    return FrameworkSupport(
        sdks=None if sdks is None else SdkRange(optional_sdk(sdks["first"]), optional_sdk(sdks["last"])),
        maintenance=None
        if maintenance is None
        else Maintenance(maintenance["purpose"], sdk(maintenance["since"]), maintenance["fix"]),
        source=entry["source"],
        code=entry.get("code"),
        only_warns=entry.get("only_warns", False),
        instead=entry.get("instead", ""),
    )


def sdk(text: str) -> Sdk:
    """``2.28`` as numbers that can be compared."""
    major, minor = text.split(".")
    return int(major), int(minor)


def optional_sdk(text: str | None) -> Sdk | None:
    """The same; None for None."""
    return None if text is None else sdk(text)
