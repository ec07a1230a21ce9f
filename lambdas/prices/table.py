"""The price table: a few hundred items of text, one for each price."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.prices.record import PriceRecord, PriceRecordError, from_item, texts, to_item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class PriceTable:
    """The table called ``name``."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client, self._name = client, name

    def read(self) -> tuple[Mapping[str, PriceRecord], tuple[str, ...]]:
        """Every record by its key, and one line for each that cannot be read.

        Raises:
            BotoCoreError, ClientError: as boto3's client raises them.
        """
        found: dict[str, PriceRecord] = {}
        problems: list[str] = []
        for page in self._client.get_paginator("scan").paginate(TableName=self._name):
            for item in page.get("Items", []):
                try:
                    record = from_item(texts(item))
                    found[record.key] = record
                except PriceRecordError as error:
                    problems.append(str(error))
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
