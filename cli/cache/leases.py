"""The lease table: who compiles which graph now, what failed, and freeing what is in the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from cli.account import Account, AwsError
from cli.cache.targets import CompileCache
from fleet.compile_cache import lease, lease_item
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Row, Standing, Terms

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, ScanInputTypeDef

_MOST_PAGES: Final = 500


@dataclass(frozen=True, slots=True)
class Lease:
    """One graph's row, and how it stands now."""

    graph: Graph
    row: Row
    standing: Standing


def every(account: Account, place: CompileCache, now: float) -> list[Lease]:
    """All of them, read consistently; ``now`` in unix seconds.

    Raises:
        AwsError: DynamoDB does not answer, or the table holds something else.
    """
    found: list[Lease] = []
    asked: ScanInputTypeDef = {"TableName": place.table, "ConsistentRead": True}
    for _ in range(_MOST_PAGES):
        page = account.dynamodb.scan(**asked)
        for item in page.get("Items", []):
            found.append(_lease(place, item, now))
        if not page.get("LastEvaluatedKey"):
            return found
        asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    raise AwsError(f"lease table {place.table} has more than {_MOST_PAGES} pages")


def free(account: Account, place: CompileCache, leases: Sequence[Lease], now: float) -> list[str]:
    """Let the next who needs these graphs compile them; the graphs whose row somebody changed meanwhile.

    Raises:
        AwsError: DynamoDB does not answer, or refuses.
    """
    changed: list[str] = []
    for each in leases:
        asked = lease_item.swap(each.graph, each.row, lease.release(each.row, now))
        try:
            account.dynamodb.put_item(TableName=place.table, **asked)
        except AwsError as error:
            if error.code != lease_item.LOST:
                raise
            changed.append(str(each.graph))
    return changed


def _lease(place: CompileCache, item: "dict[str, AttributeValueTypeDef]", now: float) -> Lease:
    try:
        graph, row = lease_item.read(cast("lease_item.Item", item))
    except (KeyError, ValueError) as error:
        raise AwsError(f"lease table {place.table} holds something that is no lease: {error}") from error
    return Lease(graph, row, lease.standing(row, now, Terms()))
