"""Can the machine image be found in the region, and does it run what the fleet needs?

Sources: Neuron documentation, Deep Learning AMIs and their SSM parameters; Neuron release notes.
"""

import re
from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.neuron_software import Framework

_NEURON_IMAGES: Final = "/aws/service/neuron/"
_REGIONS_WITHOUT: Final = frozenset({"ap-south-2"})
_PARAMETER: Final = re.compile(r"/[\w./-]{1,1010}")


def is_a_parameter(case: Case) -> Iterator[Diagnostic]:
    """Systems Manager user guide, parameter names: a path of letters, digits, and ``_.-/``; up to 1,011 characters."""
    image = case.spec.software.machine_image
    if image and not _PARAMETER.fullmatch(image):
        yield refuse(
            "not-an-image-parameter",
            "image_parameter",
            image,
            f"{image!r} is not the name of an SSM parameter",
            "give a path such as /our/images/neuron-ecs; an image's id belongs into that parameter",
        )


def is_published_in_the_region(case: Case) -> Iterator[Diagnostic]:
    """One account's report of 2026-10-03: ap-south-2 has no Neuron parameters, and the image cannot be copied there."""
    image = case.spec.software.machine_image
    if image.startswith(_NEURON_IMAGES) and case.spec.region in _REGIONS_WITHOUT:
        yield refuse(
            "image-not-in-region",
            "image_parameter",
            image,
            f"AWS publishes no Neuron images in {case.spec.region}",
            "build an image there, and name its own parameter",
        )


def joins_a_cluster(case: Case) -> Iterator[Diagnostic]:
    """Nodes join an ECS cluster, Batch's or the endpoint's; Deep Learning AMIs are not ECS-optimized images."""
    image = case.spec.software.machine_image
    if image.startswith(f"{_NEURON_IMAGES}dlami/"):
        yield warn(
            "image-without-ecs",
            "image_parameter",
            image,
            "a Deep Learning AMI brings no ECS agent: nodes would run and never join",
            "use the ECS-optimized Neuron image, which is the default, or an image made from it",
        )
    if "ubuntu-22.04" in image:
        yield warn(
            "image-out-of-support",
            "image_parameter",
            image,
            "Neuron images with Ubuntu 22.04 are out of support",
            "use ubuntu-24.04 or amazon-linux-2023",
        )


def is_for_the_chip(case: Case) -> Iterator[Diagnostic]:
    """A vLLM image runs where the vLLM Neuron plugin does."""
    image, core = case.spec.software.machine_image, case.known.accelerator.core
    support = core.frameworks[Framework.VLLM] if core is not None else None
    if "inference-vllm" in image and support is not None and support.sdks is None:
        told = warn if support.only_warns else refuse
        yield told(
            "image-for-trn2",
            "image_parameter",
            image,
            f"the vLLM image is for trn2, not for {case.known.name}",
            "use the default image, or a trn2 size",
        )


RULES: Final[tuple[Rule, ...]] = (is_a_parameter, is_published_in_the_region, joins_a_cluster, is_for_the_chip)
