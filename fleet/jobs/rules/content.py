"""Is there something to run, for somebody, on the chip that the fleet has?"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fleet import container_overrides
from fleet.capacity.network_interfaces import EFA_VARIABLES
from fleet.capacity.rules import software
from fleet.capacity.rules.case import Case
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.jobs.rules.case import JobCase, JobRule

# AWS Batch API reference, SubmitJob: letters, digits, dashes and underscores, 128 at most; a submission adds nine.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,118}")
# AWS Batch user guide, "Tag restrictions".
_TAG_VALUE: Final = re.compile(r"[\w +=.:/@-]{0,256}")
# Reference of an image (distribution/reference): a host may have capitals and a port, the path is of small letters.
_PART: Final = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_IMAGE: Final = re.compile(
    rf"(?:[A-Za-z0-9.-]+(?::\d+)?/)?{_PART}(?:/{_PART})*(?::\w[\w.-]{{0,127}})?(?:@sha256:[0-9a-f]{{64}})?", re.ASCII
)
_ECR: Final = re.compile(r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com/([^:@]+)")
# Batch sets the first, and the submission the second (AWS Batch API reference, ContainerOverrides).
_RESERVED: Final = ("AWS_BATCH", "NEURON_FLEET_")
_PRIORITIES: Final = range(10_000)


def has_a_name_and_an_owner(case: JobCase) -> Iterator[Diagnostic]:
    """Pages and dollars go by them."""
    if not _NAME.fullmatch(case.job.name):
        yield refuse(
            "job-name",
            "name",
            case.job.name,
            f"{case.job.name[:130]!r} is not a job's name",
            "use up to 119 letters, digits, dashes and underscores, and begin with one of the first two",
        )
    if not case.job.owner.strip():
        yield refuse("owner-missing", "owner", "", "nobody owns the job", "name the team that answers for it")
    elif not _TAG_VALUE.fullmatch(case.job.owner):
        fix = "use 1 to 256 letters, digits, spaces and + - = . _ : / @"
        yield refuse("owner-not-a-tag", "owner", case.job.owner, "it cannot be the value of a tag", fix)


def has_a_command(case: JobCase) -> Iterator[Diagnostic]:
    """The image's own may be anything."""
    if not case.job.command:
        yield refuse(
            "command-missing", "command", "", "there is nothing to run", "write the command as a list of words"
        )


def fits_into_a_start(case: JobCase) -> Iterator[Diagnostic]:
    """Else it is taken, waits for its nodes, and then fails."""
    told, longest = container_overrides.length(case.job.command, case.job.variables), container_overrides.LONGEST
    if told > longest:
        text = f"command and variables are {told} characters, and a start takes {longest}"
        yield refuse("command-too-long", "command", told, text, "put them into the image as a script")


def has_an_image(case: JobCase) -> Iterator[Diagnostic]:
    """Named, there, and the same tomorrow."""
    image = case.job.image
    tag = image.rpartition("/")[2].partition(":")[2]
    if not image.strip():
        yield refuse("image-missing", "image", "", "no container image", "name one with its tag or digest")
    elif not _IMAGE.fullmatch(image):
        yield refuse(
            "image-not-a-name",
            "image",
            image,
            f"{image!r} is not the name of an image",
            "write REGISTRY/REPOSITORY:TAG in small letters, or REGISTRY/REPOSITORY@sha256:DIGEST",
        )
    elif case.standing.image_exists is False:
        yield refuse(
            "image-not-found",
            "image",
            image,
            f"the registry has no image {image}",
            "push it, or correct the name, the tag or the account",
        )
    elif "@sha256:" not in image and tag in ("", "latest"):
        yield warn(
            "image-may-change",
            "image",
            image,
            "the image has no tag that stays: nodes that are replaced may run another one",
            "name a tag that is not moved, or a digest",
        )


def image_may_be_pulled(case: JobCase) -> Iterator[Diagnostic]:
    """The role that starts a fleet's containers may pull from one repository: that of the fleet's own image."""
    image, own = case.job.image, case.spec.software.container_image
    asked, allowed = _ECR.match(image), _ECR.match(own)
    if own and asked is not None and (allowed is None or asked[0] != allowed[0]):
        yield refuse(
            "image-not-allowed",
            "image",
            image,
            f"fleet {case.spec.name} may not pull from {asked[0]}",
            f"push it to {allowed[0]}, or make it the fleet's image" if allowed else "make it the fleet's image",
        )


def variables_are_free(case: JobCase) -> Iterator[Diagnostic]:
    """Those that say which job and which run this is are not the file's."""
    for name, _ in case.job.variables:
        if not name.strip() or name.upper().startswith(_RESERVED):
            text = f"{name!r} is not a variable that a job sets"
            yield refuse("variable-reserved", f"variables.{name}", name, text, "use another name")
        elif name in EFA_VARIABLES and case.job.nodes > 1:
            text = f"{name} is the job definition's, so that nodes talk over EFA; the job's own takes its place"
            yield warn(
                "variable-of-the-fabric", f"variables.{name}", name, text, "leave it out, unless you measure that"
            )


def priority_is_one(case: JobCase) -> Iterator[Diagnostic]:
    """AWS Batch API reference, SubmitJob."""
    priority = case.job.priority
    if priority is not None and priority not in _PRIORITIES:
        yield refuse("priority", "priority", priority, f"priority is {priority}", "use 0 to 9999")


def image_runs_on_the_chip(case: JobCase) -> Iterator[Diagnostic]:
    """The fleet's own rules of image x SDK x instance, with what the job brings along."""
    own, job = case.spec.software, case.job
    # What the fleet's file says of its SDK is about the fleet's image.
    is_own_image = job.image == own.container_image
    stated = replace(
        own,
        container_image=job.image,
        neuron_sdk=job.neuron_sdk or (own.neuron_sdk if is_own_image else None),
        framework=job.framework or (own.framework if is_own_image else None),
    )
    compared = Case(replace(case.spec, software=stated), case.known, case.standing.now)
    for rule in software.RULES:
        yield from rule(compared)


RULES: Final[tuple[JobRule, ...]] = (
    has_a_name_and_an_owner,
    has_a_command,
    fits_into_a_start,
    has_an_image,
    image_may_be_pulled,
    variables_are_free,
    priority_is_one,
    image_runs_on_the_chip,
)
