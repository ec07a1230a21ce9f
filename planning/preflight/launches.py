"""Can nodes be launched from the deployed templates, and do they reach each other?

Does the parameter of the machine image lead to an image that a node can start from?
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from fleet.capacity.network_interfaces import GroupRule, diagnose_peers
from fleet.diagnostics import Diagnostic, note, refuse, warn

PATH: Final = "image_parameter"
_IMAGE_ID: Final = re.compile(r"ami-[0-9a-f]{8,17}")
# EC2 DescribeInstanceTypes, ProcessorInfo: every trn and inf size is x86_64.
_ARCHITECTURE: Final = "x86_64"


@dataclass(frozen=True, slots=True)
class ImageSeen:
    """One machine image, as EC2 DescribeImages shows it."""

    image_id: str
    state: str
    architecture: str
    deprecated_at: datetime | None = None


def parameter_not_found(parameter: str, region: str) -> Diagnostic:
    """SSM knows no such parameter: the first deployment would fail on it."""
    return refuse(
        "image-parameter-not-found",
        PATH,
        parameter,
        f"SSM has no parameter {parameter} in {region}",
        "name one that exists, or create it with the id of the image: aws ssm put-parameter --data-type aws:ec2:image",
    )


def is_image_id(value: str) -> bool:
    """Whether a parameter's value can be an image's id."""
    return _IMAGE_ID.fullmatch(value) is not None


def not_an_image(parameter: str, value: str) -> Diagnostic:
    """The parameter holds something else."""
    text = f"the parameter {parameter} holds {value!r}, which is not the id of an image"
    return refuse("image-parameter-no-image", PATH, parameter, text, "store an id such as ami-0123456789abcdef0 in it")


def diagnose_image(parameter: str, image_id: str, seen: ImageSeen | None, now: datetime) -> Iterator[Diagnostic]:
    """Findings about the image ``image_id`` that ``parameter`` leads to; None where EC2 shows none."""
    if seen is None:
        text = f"{image_id}, of the parameter {parameter}, is not an image that this account can use in the region"
        yield refuse("image-not-found", PATH, parameter, text, "share the image with the account, or copy it there")
        return
    if seen.state != "available":
        text = f"the image {image_id} is {seen.state}"
        yield refuse("image-not-available", PATH, parameter, text, "wait until it is available, or name another")
    if seen.architecture != _ARCHITECTURE:
        text = f"the image {image_id} is for {seen.architecture}, and Neuron instances are {_ARCHITECTURE}"
        yield refuse("image-of-other-architecture", PATH, parameter, text, f"name an image for {_ARCHITECTURE}")
    if seen.deprecated_at and seen.deprecated_at <= now:
        text = f"the image {image_id} is deprecated since {seen.deprecated_at:%Y-%m-%d}"
        yield warn("image-deprecated", PATH, parameter, text, "name a newer image")


def diagnose_security_groups(rules: Mapping[str, Sequence[GroupRule]]) -> Iterator[Diagnostic]:
    """Errors unless one of a node's security groups lets its members send each other everything.

    ``rules`` are by group id, in the order of the launch template; when no group does, the findings are about the one
    that comes closest, and of equals about the last, which is the one for peers.
    """
    found = {group: list(diagnose_peers(group, of)) for group, of in rules.items()}
    if found:
        for finding in min(reversed(found.values()), key=len):
            yield replace(finding, path="efa")


def not_launched_yet(fleet: str) -> Diagnostic:
    """Other fleets are deployed, and this one is not."""
    text = f"{fleet} has no launch template yet: a launch is tried, without being made, after its first deployment"
    return note("launch-not-tried", "", fleet, text)


def template_differs(fleet: str, has: str, wanted: str) -> Diagnostic:
    """The deployed template is of an older version of the file."""
    text = f"the deployed launch template of {fleet} is for {has}, and the file says {wanted}"
    return warn("launch-template-old", "instance_type", wanted, text, "deploy the file")


def launch_refused(fleet: str, code: str, message: str) -> Diagnostic:
    """EC2 RunInstances with DryRun: permissions and parameters are checked, capacity is not."""
    text = f"EC2 would not launch a node of {fleet}: {code}: {message}"
    return refuse("launch-refused", "", fleet, text, "correct what EC2 names, and deploy again")
