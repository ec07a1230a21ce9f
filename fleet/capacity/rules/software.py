"""Does the Neuron SDK in the image still run this framework on this chip?

Sources: Neuron documentation, release notes by component and announcements, as of SDK 2.33; each row names its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.fleet_spec import Framework, Purpose

_SDK_OF_IMAGE: Final = re.compile(r"sdk-?(\d{1,2})\.(\d{1,3})")
_SDK: Final = re.compile(r"(\d{1,2})\.(\d{1,3})(\.\d+)?")
_NAMES: Final = {
    Framework.NXD_INFERENCE: "NxD Inference",
    Framework.NXD_TRAINING: "NxD Training",
    Framework.TORCH_XLA: "Torch/XLA",
    Framework.VLLM: "the vLLM Neuron plugin",
    Framework.JAX: "JAX",
}
_TRN1_AND_INF2: Final = frozenset({"v2"})
_TRN2: Final = frozenset({"v3"})
Sdk = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Support:
    """When a framework stopped running on a generation of cores: ``last`` is the last SDK with it, None if none was."""

    framework: Framework
    cores: frozenset[str]
    last: Sdk | None
    code: str
    fix: str


SUPPORT: Final = (
    # NxD Inference 0.9 release notes (SDK 2.29), breaking changes: "models are now only supported on Trn2 and newer
    # hardware. Customers [...] on Trn1 or Inf2 instances should pin to release 2.28".
    Support(Framework.NXD_INFERENCE, _TRN1_AND_INF2, (2, 28), "sdk-dropped-type", "pin the image to SDK 2.28"),
    # Announcement of 2026-10-16: end of support on Trn2 and Trn3 from 2.34.
    Support(Framework.NXD_INFERENCE, _TRN2, (2, 33), "framework-ended", "move to vllm, or pin the image to SDK 2.33"),
    # vllm-project/vllm-neuron and the vLLM images: Trn2 and Trn3 only. NxD Inference carried vLLM before that.
    Support(Framework.VLLM, _TRN1_AND_INF2, None, "vllm-needs-trn2", "use nxd-inference with SDK 2.28, or a trn2 size"),
    # Archived component release notes: "last supported in Neuron 2.31.0".
    Support(
        Framework.NXD_TRAINING,
        _TRN1_AND_INF2 | _TRN2,
        (2, 31),
        "framework-ended",
        "train with native PyTorch (TorchNeuron), or pin the image to SDK 2.31",
    ),
)
# Release notes of 2.21 (2024-12-03): the first with Trn2.
FIRST_WITH_TRN2: Final[Sdk] = (2, 21)
# Announcement for 2.31: Torch/XLA inference on Inf2 and Trn1 gets security fixes only.
TORCH_XLA_MAINTENANCE: Final[Sdk] = (2, 31)


def sdk_runs_framework(case: Case) -> Iterator[Diagnostic]:
    """The matrix of framework, chip and SDK. Silent where the framework or the SDK is not known."""
    framework, version = case.spec.software.framework, case.known.accelerator.neuroncore_version
    sdk = _sdk(case)
    for row in SUPPORT:
        if row.framework is not framework or version not in row.cores:
            continue
        name = _NAMES[row.framework]
        if row.last is None:
            yield refuse(row.code, "framework", framework, f"{name} does not run on {case.known.name}", row.fix)
        elif sdk is not None and sdk > row.last:
            dropped = f"{name} runs on {case.known.name} up to SDK {_text(row.last)}, not with {_text(sdk)}"
            yield refuse(row.code, "neuron_sdk", _text(sdk), dropped, row.fix)


def sdk_knows_the_chip(case: Case) -> Iterator[Diagnostic]:
    """Release notes of SDK 2.21: first support of Trn2."""
    sdk = _sdk(case)
    if sdk is not None and case.known.accelerator.neuroncore_version == "v3" and sdk < FIRST_WITH_TRN2:
        yield refuse(
            "sdk-before-type",
            "neuron_sdk",
            _text(sdk),
            f"SDK {_text(sdk)} does not know {case.known.name}",
            f"use {_text(FIRST_WITH_TRN2)} or later",
        )


def sdk_is_one(case: Case) -> Iterator[Diagnostic]:
    """What the file says and what the image's tag says."""
    stated, tagged = _parsed(case.spec.software.neuron_sdk), _tagged(case)
    if stated is not None and tagged is not None and stated != tagged:
        yield warn(
            "sdk-differs-from-image",
            "neuron_sdk",
            _text(stated),
            f"the image's tag says SDK {_text(tagged)}",
            f"write {_text(tagged)}, or use an image with {_text(stated)}",
        )


def framework_is_kept_up(case: Case) -> Iterator[Diagnostic]:
    """Torch/XLA inference on Inf2 and Trn1 is in maintenance since 2.31."""
    sdk = _sdk(case)
    is_old = case.known.accelerator.neuroncore_version in _TRN1_AND_INF2
    xla = case.spec.software.framework is Framework.TORCH_XLA and case.spec.purpose is Purpose.INFERENCE
    if is_old and xla and sdk is not None and sdk >= TORCH_XLA_MAINTENANCE:
        yield warn(
            "framework-in-maintenance",
            "framework",
            Framework.TORCH_XLA,
            f"Torch/XLA inference on {case.known.name} gets security fixes only, since SDK 2.31",
            "plan to serve from a trn2 size",
        )


def framework_is_for_the_purpose(case: Case) -> Iterator[Diagnostic]:
    """NxD Inference and vLLM serve, NxD Training trains; Torch/XLA and JAX do both."""
    framework = case.spec.software.framework
    serves = framework in (Framework.NXD_INFERENCE, Framework.VLLM)
    if framework is not None and ((case.is_training and serves) or (not case.is_training and _trains(framework))):
        yield warn(
            "framework-of-another-purpose",
            "framework",
            framework,
            f"{_NAMES[framework]} is not for {case.spec.purpose}",
            "name the framework of the container, or remove framework",
        )


def _trains(framework: Framework) -> bool:
    return framework is Framework.NXD_TRAINING


def _sdk(case: Case) -> Sdk | None:
    """As the file says, else as the image's tag does (``sdk2.28``, as AWS's own images are tagged)."""
    return _parsed(case.spec.software.neuron_sdk) or _tagged(case)


def stated_sdk(neuron_sdk: str | None, image: str) -> str:
    """The SDK as it is written, ``2.28`` or ``2.28.1``, else as the tag of ``image`` says; empty: neither does."""
    found = _SDK_OF_IMAGE.search(_tag(image))
    return neuron_sdk or (f"{found[1]}.{found[2]}" if found else "")


def _parsed(text: str | None) -> Sdk | None:
    found = _SDK.fullmatch(text or "")
    return (int(found[1]), int(found[2])) if found else None


def _tagged(case: Case) -> Sdk | None:
    found = _SDK_OF_IMAGE.search(_tag(case.spec.software.container_image))
    return (int(found[1]), int(found[2])) if found else None


def _tag(image: str) -> str:
    """Without the digest that may follow it."""
    return image.partition("@")[0].rpartition(":")[2]


def _text(sdk: Sdk) -> str:
    return f"{sdk[0]}.{sdk[1]}"


RULES: Final[tuple[Rule, ...]] = (
    sdk_runs_framework,
    sdk_knows_the_chip,
    sdk_is_one,
    framework_is_kept_up,
    framework_is_for_the_purpose,
)
