"""Is there something to run, for somebody, on the chip that the fleet has?"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fleet.capacity.rules import software
from fleet.capacity.rules.case import Case
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.fleet_spec import Purpose
from fleet.jobs.rules.case import JobCase, JobRule

# AWS Batch API reference, SubmitJob: letters, digits, dashes and underscores, 128 at most.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def fleet_trains(case: JobCase) -> Iterator[Diagnostic]:
    """An inference fleet has no queue."""
    if case.spec.purpose is not Purpose.TRAINING:
        yield refuse(
            "fleet-does-not-train",
            "fleet",
            case.job.fleet,
            f"fleet {case.spec.name} serves endpoints and takes no jobs",
            "name a training fleet",
        )


def has_a_name_and_an_owner(case: JobCase) -> Iterator[Diagnostic]:
    """Pages and dollars go by them."""
    if not _NAME.fullmatch(case.job.name):
        yield refuse(
            "job-name",
            "name",
            case.job.name,
            f"{case.job.name[:130]!r} is not a job's name",
            "use up to 128 letters, digits, dashes and underscores, and begin with one of the first two",
        )
    if not case.job.owner.strip():
        yield refuse("owner-missing", "owner", "", "nobody owns the job", "name the team that answers for it")


def has_a_command(case: JobCase) -> Iterator[Diagnostic]:
    """The image's own may be anything."""
    if not case.job.command:
        yield refuse(
            "command-missing", "command", "", "there is nothing to run", "write the command as a list of words"
        )


def has_an_image(case: JobCase) -> Iterator[Diagnostic]:
    """Named, there, and the same tomorrow."""
    image = case.job.image
    tag = image.rpartition("/")[2].partition(":")[2]
    if not image.strip():
        yield refuse("image-missing", "image", "", "no container image", "name one with its tag or digest")
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
    fleet_trains,
    has_a_name_and_an_owner,
    has_a_command,
    has_an_image,
    image_runs_on_the_chip,
)
