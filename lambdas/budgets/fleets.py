"""Closing and opening a fleet, whatever runs its jobs: AWS Batch, or its pool's controller.

A disabled queue takes no job. A disabled compute environment starts none of those that wait, does not scale out, and
lets its idle nodes go; jobs that run go on. Source: API reference, UpdateJobQueue and UpdateComputeEnvironment.

A pool is closed by a word in its own item of the table of pools' jobs, which its controller reads every minute. A
closed pool starts none of the jobs that wait and lets its idle nodes go; jobs that run go on, and one that is
interrupted waits.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from fleet.pool import CLOSED_BY, pool_key

if TYPE_CHECKING:
    from mypy_boto3_batch import BatchClient
    from mypy_boto3_dynamodb import DynamoDBClient

_WHO: Final = "budget"


class BatchTarget(BaseModel):
    """Where a fleet's jobs wait and run on AWS Batch; ARNs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queue: str
    compute_environment: str


class PoolTarget(BaseModel):
    """Where a pool's controller reads whether it is closed: the table of pools' jobs, and the pool's own name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    table: str
    fleet: str


Target = BatchTarget | PoolTarget


class BatchQueues:
    """Fleets on AWS Batch. What Batch does not answer is raised as botocore does, and done at the next look."""

    def __init__(self, batch: "BatchClient") -> None:
        self._batch = batch

    def open_among(self, places: Mapping[str, BatchTarget]) -> frozenset[str]:
        """The fleets of ``places`` whose queue takes jobs."""
        if not places:
            return frozenset()
        # A file has fewer fleets than a page has queues, 100.
        answer = self._batch.describe_job_queues(jobQueues=[place.queue for place in places.values()])
        enabled = {each["jobQueueArn"] for each in answer["jobQueues"] if each["state"] == "ENABLED"}
        return frozenset(fleet for fleet, place in places.items() if place.queue in enabled)

    def close(self, place: BatchTarget) -> None:
        """The queue first: what is submitted in between is refused, and does not wait for a month."""
        self._batch.update_job_queue(jobQueue=place.queue, state="DISABLED")
        self._batch.update_compute_environment(computeEnvironment=place.compute_environment, state="DISABLED")

    def open(self, place: BatchTarget) -> None:
        """The other way round."""
        self._batch.update_compute_environment(computeEnvironment=place.compute_environment, state="ENABLED")
        self._batch.update_job_queue(jobQueue=place.queue, state="ENABLED")


class Pools:
    """Fleets of a pool. What DynamoDB does not answer is raised as botocore does, and done at the next look."""

    def __init__(self, dynamodb: "DynamoDBClient") -> None:
        self._dynamodb = dynamodb

    def open_among(self, places: Mapping[str, PoolTarget]) -> frozenset[str]:
        """The fleets of ``places`` that start jobs."""
        return frozenset(fleet for fleet, place in places.items() if not self._is_closed(place))

    def close(self, place: PoolTarget) -> None:
        """Start no jobs."""
        self._dynamodb.update_item(
            TableName=place.table,
            Key=pool_key(place.fleet),
            UpdateExpression=f"SET {CLOSED_BY} = :who",
            ExpressionAttributeValues={":who": {"S": _WHO}},
        )

    def open(self, place: PoolTarget) -> None:
        """Start them again."""
        self._dynamodb.update_item(
            TableName=place.table, Key=pool_key(place.fleet), UpdateExpression=f"REMOVE {CLOSED_BY}"
        )

    def _is_closed(self, place: PoolTarget) -> bool:
        answer = self._dynamodb.get_item(
            TableName=place.table, Key=pool_key(place.fleet), ProjectionExpression=CLOSED_BY, ConsistentRead=True
        )
        return CLOSED_BY in answer.get("Item", {})


class Fleets:
    """The fleets that a used-up budget may stop."""

    def __init__(self, queues: BatchQueues, pools: Pools) -> None:
        self._queues, self._pools = queues, pools

    def open_among(self, places: Mapping[str, Target]) -> frozenset[str]:
        """The fleets of ``places`` that take jobs, or start them."""
        on_batch = {fleet: place for fleet, place in places.items() if isinstance(place, BatchTarget)}
        pools = {fleet: place for fleet, place in places.items() if not isinstance(place, BatchTarget)}
        return self._queues.open_among(on_batch) | self._pools.open_among(pools)

    def close(self, place: Target) -> None:
        """Start none of its jobs."""
        if isinstance(place, BatchTarget):
            self._queues.close(place)
        else:
            self._pools.close(place)

    def open(self, place: Target) -> None:
        """Start them again."""
        if isinstance(place, BatchTarget):
            self._queues.open(place)
        else:
            self._pools.open(place)
