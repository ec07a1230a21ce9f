"""One SubmitJob for one submission, although Batch has no client token.

The job's name ends in a token of this submission. It is said once; where the answer is lost, the queue is asked for a
job of this name, several times because nobody promises that a list shows at once what was made, before it is said
again. A job that a list shows only after that would be there twice: that is unlikely, and cannot be ruled out.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from cli.account import Account, AwsError
from fleet import naming
from fleet.jobs.plan import JobPlan
from fleet.jobs.submission import JobQueue, request

if TYPE_CHECKING:
    from mypy_boto3_batch.type_defs import JobSummaryTypeDef, KeyValuesPairTypeDef

_TRIES: Final = 2
_LOOKS: Final = 4
_LOOK_SECONDS: Final = 5.0
# What RegisterJobDefinition takes of what DescribeJobDefinitions shows.
_COPIED: Final = (
    "type", "parameters", "schedulingPriority", "nodeProperties", "retryStrategy", "propagateTags", "timeout", "tags",
)  # fmt: skip
# Shown, and refused when they come back.
_NOT_TAGS: Final = "aws:"


def send(
    account: Account,
    plan: JobPlan,
    environment: str,
    place: JobQueue,
    name: str,
    pause: Callable[[float], None] = time.sleep,
) -> str:
    """Submit the job under ``name``, which no other submission uses; its id.

    Raises:
        AwsError: it was refused, or nobody knows whether it was submitted.
    """
    asked = request(plan, environment=environment, place=place, name=name)
    for _ in range(_TRIES):
        try:
            answer = account.once.batch.submit_job(**asked)
            if "jobId" not in answer:
                raise AwsError("batch:submit_job was answered without a job", is_lost=True)  # noqa: TRY301 - lost too
            return str(answer["jobId"])
        except AwsError as error:
            if not error.is_lost:
                raise
            lost = error
        found = _look(account, environment, place, name, pause)
        if found is not None:
            return found
    raise AwsError(f"{lost}; no job {name} is in the queue after {_TRIES} tries")


def _look(account: Account, environment: str, place: JobQueue, name: str, pause: Callable[[float], None]) -> str | None:
    for _ in range(_LOOKS):
        pause(_LOOK_SECONDS)
        try:
            found = named(account, place.queue, name)
        except AwsError as error:
            raise AwsError(
                f"nobody knows whether {name} was submitted: Batch's answer was lost, and {error}; look with "
                f"`fleet jobs show {environment} {name}` before you submit it again"
            ) from error
        if found:
            return str(found[0]["jobId"])
    return None


def named(account: Account, queue: str, name: str) -> "list[JobSummaryTypeDef]":
    """Summaries of the queue's jobs of this name, in whatever state; ``*`` at its end stands for anything."""
    filters: list[KeyValuesPairTypeDef] = [{"name": "JOB_NAME", "values": [name]}]
    found = [
        each
        for page in account.batch.get_paginator("list_jobs").paginate(jobQueue=queue, filters=filters)
        for each in page.get("jobSummaryList", [])
    ]
    wanted = name.removesuffix("*")
    return [each for each in found if _is(each["jobName"], wanted, is_prefix=name.endswith("*"))]


def _is(name: str, wanted: str, *, is_prefix: bool) -> bool:
    # Batch's own match does not tell capital letters from small ones.
    return name.startswith(wanted) if is_prefix else name == wanted


def definition_name(environment: str, place: JobQueue, image: str) -> str:
    """Of a copy of the fleet's definition with another image: the same for the same two."""
    digest = sha256(f"{place.definition} {image}".encode()).hexdigest()[:12]
    return f"{naming.PROJECT}-{environment}-image-{digest}"


def with_image(account: Account, environment: str, place: JobQueue, image: str) -> JobQueue:
    """``place`` with a definition whose containers are of ``image``: SubmitJob cannot name another one.

    One that was registered before is used again.

    Raises:
        AwsError: Batch does not show the fleet's definition, or refuses a copy of it.
    """
    if image == place.image:
        return place
    name = definition_name(environment, place, image)
    known = [
        each
        for page in account.batch.get_paginator("describe_job_definitions").paginate(
            jobDefinitionName=name, status="ACTIVE"
        )
        for each in page.get("jobDefinitions", [])
    ]
    if known:
        return replace(place, definition=str(known[0]["jobDefinitionArn"]), image=image)
    found = [
        each
        for page in account.batch.get_paginator("describe_job_definitions").paginate(jobDefinitions=[place.definition])
        for each in page.get("jobDefinitions", [])
    ]
    if not found:
        raise AwsError(f"Batch does not show job definition {place.definition}: deploy the training stack again")
    copy: dict[str, Any] = {key: found[0][key] for key in _COPIED if key in found[0]}
    copy["tags"] = {key: value for key, value in copy.get("tags", {}).items() if not key.startswith(_NOT_TAGS)}
    for nodes in copy["nodeProperties"]["nodeRangeProperties"]:
        nodes["container"]["image"] = image
    made = account.batch.register_job_definition(jobDefinitionName=name, **copy)
    return replace(place, definition=str(made["jobDefinitionArn"]), image=image)
