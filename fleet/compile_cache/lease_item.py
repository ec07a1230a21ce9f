"""A lease's row as an item of the table in DynamoDB, for all who read or write it: the partition key is ``id``.

id        S  neuronxcc-<version>/MODULE_<graph>+<flags>
revision  N  grows with every change; what a write is conditional on
token     N  grows with every holder
state     S  free | compiling | promoting | done | failed
holder    S  the process that wrote it last as holder
until     N  unix seconds: the end of the lease, or of a refusal
changed   N  unix seconds of the last change of state
failures  N  compilations in a row that failed
seconds   N  what the compilation took
reason    S  the compiler's words, of a failure
"""

from typing import Any, Final

from fleet.compile_cache.graph import Graph, parse
from fleet.compile_cache.lease import Row, State

LOST: Final = "ConditionalCheckFailedException"
Item = dict[str, dict[str, str]]


def key(graph: Graph) -> Item:
    """What GetItem asks for."""
    return {"id": {"S": str(graph)}}


def swap(graph: Graph, seen: Row | None, new: Row) -> dict[str, Any]:
    """PutItem's parameters, but for the table: write ``new`` if nobody wrote since ``seen``. LOST: somebody did."""
    request: dict[str, Any] = {"Item": {**key(graph), **_item(new)}}
    if seen is None:
        return {**request, "ConditionExpression": "attribute_not_exists(id)"}
    values = {":seen": {"N": str(seen.revision)}}
    return {**request, "ConditionExpression": "revision = :seen", "ExpressionAttributeValues": values}


def read(item: Item) -> tuple[Graph, Row]:
    """What ``swap`` wrote.

    Raises:
        KeyError, ValueError: it is no row of a lease.
    """
    return parse(item["id"]["S"]), row(item)


def row(item: Item) -> Row:
    """The same without its key; raises as ``read`` does."""
    return Row(
        revision=int(item["revision"]["N"]),
        token=int(item["token"]["N"]),
        state=State(item["state"]["S"]),
        holder=item["holder"]["S"],
        until=float(item["until"]["N"]),
        changed=float(item["changed"]["N"]),
        failures=int(item["failures"]["N"]),
        seconds=float(item["seconds"]["N"]),
        reason=item["reason"]["S"],
    )


def _item(row: Row) -> Item:
    # repr is the shortest text that reads as the same number, and a row must read as it was written.
    numbers = {name: getattr(row, name) for name in ("revision", "token", "until", "changed", "failures", "seconds")}
    return {
        **{name: {"N": repr(value)} for name, value in numbers.items()},
        "state": {"S": row.state.value},
        "holder": {"S": row.holder},
        "reason": {"S": row.reason},
    }
