"""Does the Neuron SDK in the image still run this framework on this chip?

What a chip's cores have is in the data file (``neuroncores``), each framework with its source, as of SDK 2.33.
"""

import re
from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.neuron_software import Framework, Sdk

_SDK_OF_IMAGE: Final = re.compile(r"sdk-?(\d{1,2})\.(\d{1,3})")
_SDK: Final = re.compile(r"(\d{1,2})\.(\d{1,3})(\.\d+)?")
_NAMES: Final = {
    Framework.NXD_INFERENCE: "NxD Inference",
    Framework.NXD_TRAINING: "NxD Training",
    Framework.TORCH_XLA: "Torch/XLA",
    Framework.VLLM: "the vLLM Neuron plugin",
    Framework.JAX: "JAX",
}


def sdk_runs_framework(case: Case) -> Iterator[Diagnostic]:
    """The SDKs with which the chip's cores have the framework. Silent where the framework or the SDK is not known."""
    framework, core = case.spec.software.framework, case.known.accelerator.core
    if framework is None or core is None:
        return
    support, name, stated = core.frameworks[framework], _NAMES[framework], _sdk(case)
    if support.sdks is None:
        does_not = f"{name} does not run on {case.known.name}"
        fix = support.instead or "choose a type that it runs on"
        told = warn if support.only_warns else refuse
        yield told(support.code or "framework-not-on-type", "framework", framework, does_not, fix)
    elif stated is not None and support.sdks.last is not None and stated > support.sdks.last:
        last = _text(support.sdks.last)
        dropped = f"{name} runs on {case.known.name} up to SDK {last}, not with {_text(stated)}"
        fix = ", or ".join(filter(None, (support.instead, f"pin the image to SDK {last}")))
        yield refuse(support.code or "sdk-dropped-type", "neuron_sdk", _text(stated), dropped, fix)
    elif stated is not None and support.sdks.first is not None and stated < support.sdks.first:
        first = _text(support.sdks.first)
        early = f"{name} runs on {case.known.name} from SDK {first} on, not with {_text(stated)}"
        yield refuse("sdk-before-framework", "neuron_sdk", _text(stated), early, f"use {first} or later")


def sdk_knows_the_chip(case: Case) -> Iterator[Diagnostic]:
    """Release notes: the first SDK that supports a chip, such as 2.21 for Trn2."""
    stated, core = _sdk(case), case.known.accelerator.core
    if stated is not None and core is not None and core.first_sdk is not None and stated < core.first_sdk:
        yield refuse(
            "sdk-before-type",
            "neuron_sdk",
            _text(stated),
            f"SDK {_text(stated)} does not know {case.known.name}",
            f"use {_text(core.first_sdk)} or later",
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
    """A library in maintenance on a chip, as Torch/XLA inference is on Inf2 and Trn1 since 2.31."""
    stated, framework, core = _sdk(case), case.spec.software.framework, case.known.accelerator.core
    if stated is None or framework is None or core is None:
        return
    kept = core.frameworks[framework].maintenance
    if kept is not None and kept.purpose == case.spec.purpose and stated >= kept.since:
        only = f"{_NAMES[framework]} {kept.purpose} on {case.known.name} gets security fixes only"
        text = f"{only}, since SDK {_text(kept.since)}"
        yield warn("framework-in-maintenance", "framework", framework, text, kept.fix)


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
