"""Jobs on pools: their table, which the pools' controller works through, in the words of `fleet jobs`.

A pool's job is an item that is written once, by its id: a second try finds the first one and harms nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

from cli.account import Account, AwsError
from cli.jobs.submission_targets import NotDeployedError, parameter_of
from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet import naming
from fleet.jobs.forecast import Attempt, NodeRun
from fleet.pool.actions import CONTAINER
from fleet.pool.job import Order, Phase, PoolJob, Rank, packed, submitted, unpacked
from fleet.pool.observed import PoolDeployment

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef
from cli.jobs.found import Found
from fleet.jobs.job import Job

_JOB: Final = TypeAdapter(PoolJob)
_PLACE: Final = TypeAdapter(PoolDeployment)
_NO_TABLE: Final = ("ResourceNotFoundException",)
_TAKEN: Final = "ConditionalCheckFailedException"
# What AWS Batch calls it.
_STATUS: Final = {Phase.WAITING: "RUNNABLE", Phase.STOPPING: "RUNNING"}


def place_of(account: Account, environment: Environment, fleet: str) -> PoolDeployment:
    """The pool as it is deployed; raises ``AwsError``, and ``NotDeployedError`` where it is not."""
    text = parameter_of(account, environment, fleet)
    try:
        return _PLACE.validate_json(text)
    except ValueError as error:
        name = naming.job_place_parameter(environment.name, fleet)
        raise AwsError(f"parameter {name} does not describe a pool: deploy the stack again") from error


def send(account: Account, environment: Environment, order: Order) -> str:
    """Write the order down; the controller starts it within a minute when it has nodes. Its id."""
    item = {
        **_key(order.fleet, order.job_id),
        "body": packed(_JOB.dump_json(submitted(order))),
    }
    try:
        account.dynamodb.put_item(
            TableName=naming.pool_table(environment.name), Item=item, ConditionExpression="attribute_not_exists(body)"
        )
    except AwsError as error:
        # An answer that was lost: the try before this one has written it.
        if error.code != _TAKEN:
            raise
    return order.job_id


def jobs_of(account: Account, environment: Environment, fleet: TrainingFleet) -> Iterator[PoolJob]:
    """Every job of the pool that has not been forgotten, a week after its end.

    Raises:
        NotDeployedError: there is no table.
        AwsError: DynamoDB does not answer.
    """
    request: QueryInputTypeDef = {
        "TableName": naming.pool_table(environment.name),
        "ConsistentRead": True,
        "KeyConditionExpression": "fleet = :fleet AND begins_with(#item, :jobs)",
        "ExpressionAttributeNames": {"#item": "item"},
        "ExpressionAttributeValues": {":fleet": {"S": fleet.name}, ":jobs": {"S": "job/"}},
    }
    while True:
        answer = account.find(_NO_TABLE, account.dynamodb.query, **request)
        if answer is None:
            stack = naming.stack_name(environment.name, "pools")
            raise NotDeployedError(f"there is no table of jobs: deploy {stack} with `cdk deploy -c env=…`")
        for item in answer["Items"]:
            job = _JOB.validate_json(unpacked(dict(item["body"])))
            # Told to end, and not looked at since.
            is_told = "stop" in item and not job.is_over and not job.fails_with
            yield replace(job, reason=f"to be stopped by {item['stop']['S']}") if is_told else job
        if not answer.get("LastEvaluatedKey"):
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def stop(account: Account, environment: Environment, fleet: str, job_id: str) -> None:
    """Have the job ended: its containers get SIGTERM, and their time to save."""
    account.dynamodb.update_item(
        TableName=naming.pool_table(environment.name),
        Key=_key(fleet, job_id),
        UpdateExpression="SET #stop = :who",
        ConditionExpression="attribute_exists(body)",
        ExpressionAttributeNames={"#stop": "stop"},
        ExpressionAttributeValues={":who": {"S": "`fleet jobs stop`"}},
    )  # fmt: skip


def status(job: PoolJob) -> str:
    """How it stands, in AWS Batch's words."""
    return _STATUS.get(job.phase, job.phase.value)


def runs(job: PoolJob) -> tuple[NodeRun, ...]:
    """Each node of the job over all of its attempts; none before the first."""
    if job.last is None:
        return ()
    return tuple(_run(job, rank) for rank in job.last.ranks)


def _run(job: PoolJob, rank: Rank) -> NodeRun:
    own = [each for attempt in job.attempts for each in attempt.ranks if each.index == rank.index]
    state = status(job) if job.is_over or not rank.is_over else "FAILED" if rank.exit_code else "SUCCEEDED"
    return NodeRun(rank.index, state, rank.reason, tuple(_attempt(job, each) for each in own), rank.container_instance)


def _attempt(job: PoolJob, rank: Rank) -> Attempt:
    # awslogs driver of ECS: prefix/container/task
    task = rank.task.rpartition("/")[2]
    stream = f"{job.order.fleet}/{CONTAINER}/{task}" if task and rank.started_at else ""
    return Attempt(rank.started_at, rank.stopped_at, rank.exit_code, rank.reason, stream)


def _key(fleet: str, job_id: str) -> dict[str, dict[str, str]]:
    return {"fleet": {"S": fleet}, "item": {"S": f"job/{job_id}"}}


def found_on_pools(account: Account, environment: Environment) -> list[Found] | None:
    """The jobs of every pool that is deployed; None where none is."""
    found: list[Found] | None = None
    for fleet in environment.pool_fleets:
        try:
            jobs = list(jobs_of(account, environment, fleet))
        except NotDeployedError:
            if not environment.batch_fleets:
                raise
            continue
        found = [*(found or []), *(_of_pool(fleet, job) for job in jobs)]
    return found


def _of_pool(fleet: TrainingFleet, job: PoolJob) -> Found:
    asked, last = job.order, job.last
    starts = [rank.started_at for rank in last.ranks if rank.started_at] if last else []
    return Found(
        job_id=asked.job_id,
        name=asked.name,
        fleet=fleet,
        job=Job(asked.job, asked.owner, fleet.name, asked.nodes, "", (), tokens_wanted=asked.tokens_wanted),
        status=status(job),
        reason=job.reason,
        created=asked.created_at,
        started=min(starts, default=None),
        stopped=job.since if job.is_over else None,
        attempts=sum(attempt.is_over for attempt in job.attempts),
        pool_job=job,
    )
