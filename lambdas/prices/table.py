"""The price table: a few hundred items of text, one for each price."""

from collections.abc import Mapping
from typing import Final

from botocore.exceptions import ClientError

from fleet.prices.record import PriceRecord, PriceRecordError, from_item, texts, to_item
from lambdas.prices.clients import TableClient

_PAGES: Final = 100


class PriceTable:
    """The table called ``name``."""

    def __init__(self, client: TableClient, name: str) -> None:
        self._client, self._name = client, name

    def read(self) -> tuple[Mapping[str, PriceRecord], tuple[str, ...]]:
        """Every record by its key, and one line for each that cannot be read.

        Raises:
            BotoCoreError, ClientError: as boto3's client raises them.
        """
        found: dict[str, PriceRecord] = {}
        problems: list[str] = []
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = self._client.scan(TableName=self._name, **more)
            for item in page.get("Items", []):
                try:
                    record = from_item(texts(item))
                    found[record.key] = record
                except PriceRecordError as error:
                    problems.append(str(error))
            if not page.get("LastEvaluatedKey"):
                break
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        return found, tuple(problems)

    def put(self, record: PriceRecord) -> None:
        """Keep ``record``, unless a later reading is there: two runs may overlap, and the later one has the say.

        Raises:
            BotoCoreError, ClientError: as boto3's client raises them.
        """
        try:
            self._client.put_item(
                TableName=self._name,
                Item={field: {"S": text} for field, text in to_item(record).items()},
                ConditionExpression="attribute_not_exists(id) OR read_at <= :read_at",
                ExpressionAttributeValues={":read_at": {"S": record.read_at}},
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "ConditionalCheckFailedException":
                raise
