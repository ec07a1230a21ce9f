"""Closing and opening a pool: a word in its own item of the table of pools' jobs.

Its controller reads it every minute. A closed pool starts none of the jobs that wait and lets its idle nodes go; jobs
that run go on, and one that is interrupted waits.
"""

from collections.abc import Mapping

from fleet.pool.table import CLOSED_BY, pool_key
from lambdas.budgets.clients import PoolTableClient
from lambdas.budgets.ports import PoolPlace

_WHO = "budget"


class Pools:
    """What DynamoDB does not answer is raised as botocore does, and done at the next look."""

    def __init__(self, dynamodb: PoolTableClient) -> None:
        self._dynamodb = dynamodb

    def open_among(self, places: Mapping[str, PoolPlace]) -> frozenset[str]:
        """The fleets of ``places`` that start jobs."""
        return frozenset(fleet for fleet, place in places.items() if not self._is_closed(place))

    def close(self, place: PoolPlace) -> None:
        """Start no jobs."""
        self._dynamodb.update_item(
            TableName=place.table,
            Key=pool_key(place.fleet),
            UpdateExpression=f"SET {CLOSED_BY} = :who",
            ExpressionAttributeValues={":who": {"S": _WHO}},
        )

    def open(self, place: PoolPlace) -> None:
        """Start them again."""
        self._dynamodb.update_item(
            TableName=place.table, Key=pool_key(place.fleet), UpdateExpression=f"REMOVE {CLOSED_BY}"
        )

    def _is_closed(self, place: PoolPlace) -> bool:
        answer = self._dynamodb.get_item(
            TableName=place.table, Key=pool_key(place.fleet), ProjectionExpression=CLOSED_BY, ConsistentRead=True
        )
        return CLOSED_BY in answer.get("Item", {})
