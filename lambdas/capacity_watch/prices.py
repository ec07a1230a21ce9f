"""The prices that AWS was asked for lately, of the fleets' own types and markets."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, cast

from fleet.instances import Price
from fleet.prices import kind_for
from fleet.prices.record import PriceRecordError, from_item, price_key, texts
from fleet.reserved.observed import FleetDeployment

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, KeysAndAttributesTypeDef

# BatchGetItem takes so many keys, and may answer a part of them (DynamoDB API Reference).
_AT_ONCE: Final = 100
_TRIES: Final = 3


def read(table: "DynamoDBClient", name: str, places: Iterable[FleetDeployment]) -> Mapping[str, tuple[Price, ...]]:
    """Prices by instance type; a fleet with a negotiated rate needs none. What is not in the table is not there.

    Raises:
        LookupError: an item cannot be read, or the table did not answer for all of them.
    """
    keys = sorted({price_key(p.region, p.instance_type, kind_for(p.market)) for p in places if p.price is None})
    found: dict[str, tuple[Price, ...]] = {}
    for first in range(0, len(keys), _AT_ONCE):
        ids: list[dict[str, AttributeValueTypeDef]] = [{"id": {"S": key}} for key in keys[first : first + _AT_ONCE]]
        wanted: Mapping[str, KeysAndAttributesTypeDef] = {name: {"Keys": ids}}
        for _ in range(_TRIES):
            answer = table.batch_get_item(RequestItems=wanted)
            for item in answer.get("Responses", {}).get(name, []):
                _take(texts(item), found)
            wanted = cast("Mapping[str, KeysAndAttributesTypeDef]", answer.get("UnprocessedKeys"))
            if not wanted:
                break
        else:
            raise LookupError(f"table {name} did not answer for all prices")
    return found


def _take(item: Mapping[str, str], found: dict[str, tuple[Price, ...]]) -> None:
    try:
        record = from_item(item)
    except PriceRecordError as error:
        raise LookupError(str(error)) from error
    found[record.instance_type] = (*found.get(record.instance_type, ()), record.price)
