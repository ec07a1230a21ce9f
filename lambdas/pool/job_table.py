"""Jobs, faults and what is remembered of each pool, in one DynamoDB table.

The key is the fleet and what the item is of: ``job/ID``, ``fault/INSTANCE``, ``pool``. A job's ``body`` is written by
the controller alone, and ``stop`` by whoever wants it ended: neither overwrites the other.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, cast

from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from fleet.pool import CLOSED_BY, POOL
from fleet.pool.job import PoolJob, packed, unpacked
from fleet.pool.observed import Fault, Memory

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, UpdateItemInputTypeDef

# Somewhat longer than the function may run: one that was cut off leaves its turn to the next.
TURN: Final = timedelta(minutes=2, seconds=30)
# How long Batch keeps a job that has ended, too.
KEPT: Final = timedelta(days=7)
_FAULTS_KEPT: Final = timedelta(hours=1)
_JOB: Final = TypeAdapter(PoolJob)
_MEMORY: Final = TypeAdapter(Memory)
_FAULT: Final = TypeAdapter(Fault)


class BusyError(Exception):
    """Another invocation looks at the pool at this moment; it or the next tick sees what this one would have seen."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What is written down of one pool. ``stops``: jobs that somebody wants ended, by id, and who."""

    jobs: tuple[PoolJob, ...]
    memory: Memory
    faults: tuple[Fault, ...]
    stops: dict[str, str]
    is_closed: bool = False


class JobTable:
    """The jobs of one environment."""

    def __init__(self, dynamodb: "DynamoDBClient", table: str) -> None:
        self._dynamodb, self._table = dynamodb, table

    @contextmanager
    def turn(self, fleet: str, now: datetime) -> Iterator[None]:
        """Be the only one who looks at the pool, for as long as the context lasts; raises ``BusyError``."""
        try:
            self._update(
                fleet, POOL, "SET turn_until = :until", {":until": _number(now + TURN), ":now": _number(now)},
                condition="attribute_not_exists(turn_until) OR turn_until < :now",
            )  # fmt: skip
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
                raise BusyError(fleet) from error
            raise
        try:
            yield
        finally:
            self._update(fleet, POOL, "REMOVE turn_until")

    def read(self, fleet: str) -> Stored:
        """Everything of one pool."""
        jobs: list[PoolJob] = []
        faults: list[Fault] = []
        stops: dict[str, str] = {}
        memory, is_closed = Memory(), False
        for item in self._items(fleet):
            kind, _, name = item["item"]["S"].partition("/")
            if kind == "job":
                jobs.append(_JOB.validate_json(unpacked(item["body"])))
                if "stop" in item:
                    stops[name] = item["stop"]["S"]
            elif kind == "fault":
                faults.append(_FAULT.validate_json(item["body"]["S"]))
            else:
                is_closed = CLOSED_BY in item
                memory = _MEMORY.validate_json(item["body"]["S"]) if "body" in item else memory
        return Stored(tuple(jobs), memory, tuple(faults), stops, is_closed)

    def write(self, job: PoolJob) -> None:
        """Write down how a job stands; one that is over is kept for a week."""
        values: dict[str, AttributeValueTypeDef] = {":body": cast("AttributeValueTypeDef", packed(_JOB.dump_json(job)))}
        what = "SET body = :body"
        if job.is_over:
            values[":expiration"] = _number(job.since + KEPT)
            what += ", expiration = :expiration"
        self._update(job.order.fleet, f"job/{job.order.job_id}", what, values)

    def remember(self, fleet: str, memory: Memory) -> None:
        """Write down what outlasts a look."""
        self._update(fleet, POOL, "SET body = :body", {":body": {"S": _MEMORY.dump_json(memory).decode()}})

    def note(self, fleet: str, faults: Iterable[Fault]) -> None:
        """Write down what agents told of their nodes; the newest of each node counts."""
        for fault in faults:
            values: dict[str, AttributeValueTypeDef] = {
                ":body": {"S": _FAULT.dump_json(fault).decode()},
                ":expiration": _number(fault.at + _FAULTS_KEPT),
            }
            self._update(fleet, f"fault/{fault.instance_id}", "SET body = :body, expiration = :expiration", values)

    def _items(self, fleet: str) -> "Iterator[dict[str, AttributeValueTypeDef]]":
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="fleet = :fleet",
            ExpressionAttributeValues={":fleet": {"S": fleet}},
        )
        return (item for page in pages for item in page["Items"])

    def _update(
        self,
        fleet: str,
        item: str,
        expression: str,
        values: "dict[str, AttributeValueTypeDef] | None" = None,
        condition: str = "",
    ) -> None:
        request: UpdateItemInputTypeDef = {
            "TableName": self._table,
            "Key": {"fleet": {"S": fleet}, "item": {"S": item}},
            "UpdateExpression": expression,
        }
        if values:
            request["ExpressionAttributeValues"] = values
        if condition:
            request["ConditionExpression"] = condition
        self._dynamodb.update_item(**request)


def _number(moment: datetime) -> "AttributeValueTypeDef":
    return {"N": str(int(moment.timestamp()))}
