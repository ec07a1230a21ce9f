"""Jobs as Batch and the pools have them: found by id or name, with their nodes and attempts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from cli.account import Account, AwsError
from cli.jobs import pools
from cli.jobs.batch_submit import named
from cli.jobs.found import Found
from cli.jobs.pools import found_on_pools
from cli.jobs.submission_targets import NotDeployedError, place_of
from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet.jobs.forecast import ACTIVE, ENDED, Attempt, NodeRun
from fleet.jobs.job import Job
from fleet.jobs.submission import JOB_TAG, OWNER_TAG, TOKENS_WANTED

if TYPE_CHECKING:
    from mypy_boto3_batch.literals import JobStatusType
    from mypy_boto3_batch.type_defs import (
        AttemptContainerDetailTypeDef,
        AttemptDetailTypeDef,
        ContainerDetailTypeDef,
        JobDetailTypeDef,
    )

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TOKEN: Final = re.compile(r"-[0-9a-f]{8}")
# DescribeJobs takes so many at once.
_AT_ONCE: Final = 100


def find(account: Account, environment: Environment, wanted: str) -> Found:
    """The job of this id, of this name as submitted, or of this name in its file: the one that lives, or the newest.

    Raises:
        AwsError: there is none, several live, or AWS does not answer.
    """
    on_pools = found_on_pools(account, environment)
    found = [each for each in on_pools or () if wanted in _names(each)]
    if not found and environment.batch_fleets:
        is_alone = on_pools is None
        by_id = _ID.fullmatch(wanted) is not None
        details = describe(account, [wanted]) if by_id else _by_name(account, environment, wanted, is_alone=is_alone)
        found = [each for each in (_found(environment, detail) for detail in details) if each is not None]
    living = [each for each in found if not each.is_over]
    if len(living) > 1:
        raise AwsError(f"several jobs are called {wanted}: {', '.join(f'{e.name} ({e.status})' for e in living)}")
    if not found:
        raise AwsError(
            f"environment {environment.name} has no job {wanted}: `fleet jobs list {environment.name} --all`"
        )
    oldest = datetime.min.replace(tzinfo=UTC)
    return living[0] if living else max(found, key=lambda each: each.created or oldest)


def every(account: Account, environment: Environment, *, ended: bool) -> Iterator[Found]:
    """The jobs of every fleet that is deployed, those that ended too where ``ended``; raises ``AwsError``."""
    on_pools = found_on_pools(account, environment)
    yield from (each for each in on_pools or () if ended or not each.is_over)
    for fleet, queue in _queues(account, environment, is_alone=on_pools is None):
        statuses = (*ACTIVE, *ENDED) if ended else ACTIVE
        listed = [
            job["jobId"]
            for status in statuses
            for page in account.batch.get_paginator("list_jobs").paginate(
                jobQueue=queue, jobStatus=cast("JobStatusType", status)
            )
            for job in page.get("jobSummaryList", [])
        ]
        for detail in describe(account, listed):
            one = _found(environment, detail, fleet)
            if one is not None:
                yield one


def nodes_of(account: Account, found: Found) -> tuple[NodeRun, ...]:
    """Each node of the job, as Batch or its pool tells it; those that it does not know yet are left out."""
    if found.pool_job is not None:
        return pools.runs(found.pool_job)
    # Batch knows no `#0` of a container: it is the job itself.
    ids = [found.job_id if found.is_container else f"{found.job_id}#{index}" for index in range(found.job.nodes)]
    details = {detail["jobId"]: detail for detail in describe(account, ids)}
    return tuple(_node(index, details[each]) for index, each in enumerate(ids) if each in details)


def describe(account: Account, ids: Iterable[str]) -> "list[JobDetailTypeDef]":
    """DescribeJobs, in as many calls as it takes."""
    asked = list(ids)
    details: list[JobDetailTypeDef] = []
    for first in range(0, len(asked), _AT_ONCE):
        details += account.batch.describe_jobs(jobs=asked[first : first + _AT_ONCE]).get("jobs", [])
    return details


def again(account: Account, environment: Environment, found: Found) -> Found:
    """The same job as it stands now; raises ``AwsError``."""
    if found.pool_job is not None:
        now = [each for each in found_on_pools(account, environment) or () if each.job_id == found.job_id]
        return now[0] if now else replace(found, status=ENDED[-1])
    details = describe(account, [found.job_id])
    now = [each for each in (_found(environment, detail, found.fleet) for detail in details) if each is not None]
    # One that Batch has forgotten is over.
    return now[0] if now else replace(found, status=ENDED[-1])


def _names(found: Found) -> tuple[str, ...]:
    return (found.job_id, found.name, found.job.name)


def _queues(account: Account, environment: Environment, *, is_alone: bool) -> list[tuple[TrainingFleet, str]]:
    """Of the fleets that are deployed; a new one has no jobs yet. ``is_alone``: no pool is deployed either."""
    found: list[tuple[TrainingFleet, str]] = []
    missing: NotDeployedError | None = None
    for fleet in environment.batch_fleets:
        try:
            found.append((fleet, place_of(account, environment, fleet.name).queue))
        except NotDeployedError as error:
            missing = error
    if not found and missing is not None and is_alone:
        raise missing
    return found


def _by_name(account: Account, environment: Environment, name: str, *, is_alone: bool) -> "list[JobDetailTypeDef]":
    ids: list[str] = []
    for _, queue in _queues(account, environment, is_alone=is_alone):
        exact = named(account, queue, name)
        ids += [each["jobId"] for each in exact]
        if not exact:
            same = named(account, queue, f"{name}-*")
            ids += [each["jobId"] for each in same if _TOKEN.fullmatch(each["jobName"][len(name) :])]
    return describe(account, ids)


def _found(environment: Environment, detail: "JobDetailTypeDef", of: TrainingFleet | None = None) -> Found | None:
    tags: Mapping[str, str] = detail.get("tags") or {}
    fleets = {fleet.name: fleet for fleet in environment.training_fleets}
    fleet = of or fleets.get(tags.get("fleet", ""))
    if fleet is None or tags.get("environment", environment.name) != environment.name:
        return None
    return Found(
        job_id=str(detail["jobId"]),
        name=str(detail["jobName"]),
        fleet=fleet,
        job=_job(detail, tags, fleet),
        status=str(detail["status"]),
        reason=str(detail.get("statusReason") or ""),
        created=moment(detail.get("createdAt")),
        started=moment(detail.get("startedAt")),
        stopped=moment(detail.get("stoppedAt")),
        attempts=len(detail.get("attempts") or ()),
        is_container=not detail.get("nodeProperties"),
    )


def _job(detail: "JobDetailTypeDef", tags: Mapping[str, str], fleet: TrainingFleet) -> Job:
    parameters: Mapping[str, str] = detail.get("parameters") or {}
    return Job(
        name=tags.get(JOB_TAG, str(detail["jobName"])),
        owner=tags.get(OWNER_TAG, fleet.owner),
        fleet=fleet.name,
        nodes=detail["nodeProperties"]["numNodes"] if detail.get("nodeProperties") else 1,
        image="",
        command=(),
        tokens_wanted=_number(parameters.get(TOKENS_WANTED)),
    )


def _node(index: int, detail: "JobDetailTypeDef") -> NodeRun:
    container: ContainerDetailTypeDef = detail.get("container") or {}
    attempts = [_attempt(each) for each in detail.get("attempts") or ()]
    started = moment(detail.get("startedAt"))
    # Batch lists an attempt when it is over; the one that runs is told by the job itself.
    if started is not None and all(each.started != started for each in attempts):
        stopped = moment(detail.get("stoppedAt"))
        attempts.append(
            Attempt(started, stopped, container.get("exitCode"), "", str(container.get("logStreamName") or ""))
        )
    reason = str(container.get("reason") or detail.get("statusReason") or "")
    instance = str(container.get("containerInstanceArn") or "")
    return NodeRun(index, str(detail["status"]), reason, tuple(attempts), instance)


def _attempt(told: "AttemptDetailTypeDef") -> Attempt:
    container: AttemptContainerDetailTypeDef = told.get("container") or {}
    return Attempt(
        moment(told.get("startedAt")),
        moment(told.get("stoppedAt")),
        container.get("exitCode"),
        str(container.get("reason") or told.get("statusReason") or ""),
        str(container.get("logStreamName") or ""),
    )


def moment(milliseconds: int | None) -> datetime | None:
    """Batch's own way to tell a time; 0 is as good as none."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
