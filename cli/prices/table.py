"""The price table of an environment, as people's commands read it and, where they ask for it, change it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from environments.model import Environment
from fleet import naming
from fleet.fleet_spec import FleetSpec
from fleet.instances import Price
from fleet.prices import kind_for, price_of
from fleet.prices.record import PriceRecord, from_item, price_key, texts, to_item

_ABSENT: Final = ("ResourceNotFoundException",)
_PAGES: Final = 100


class Account(Protocol):
    """Whoever speaks to AWS for a command, with its own limits and its own errors."""

    def find(self, service: str, method: str, absent: tuple[str, ...], **request: object) -> dict[str, Any] | None:
        """The answer to a call; None when AWS answers one of the codes ``absent``."""
        ...


class Writer(Account, Protocol):
    """One that may change something."""

    def ask(self, service: str, method: str, **request: object) -> dict[str, Any]:
        """The answer to a call."""
        ...


def newest(account: Account, environment: str, spec: FleetSpec) -> FleetSpec:
    """``spec`` at the newest price that is known: its own rate, what AWS was asked for, or the embedded one.

    Raises:
        PriceRecordError: the table holds something else.
        Exception: as ``account`` raises when AWS does not answer.
    """
    if spec.price is not None:
        return spec
    key = price_key(spec.region, spec.instance_type, kind_for(spec.market))
    table = naming.prices_table(environment)
    answer = account.find("dynamodb", "get_item", _ABSENT, TableName=table, Key={"id": {"S": key}})
    item = (answer or {}).get("Item")
    if not item:
        return spec
    return replace(spec, price=price_of(spec, {spec.instance_type: (from_item(texts(item)).price,)}))


def records(account: Account, environment: Environment) -> tuple[PriceRecord, ...] | None:
    """Every price that is kept, by its key; None where nothing is deployed yet.

    Raises:
        PriceRecordError: an item cannot be read.
        Exception: as ``account`` raises when AWS does not answer.
    """
    found: list[PriceRecord] = []
    more: dict[str, object] = {}
    for _ in range(_PAGES):
        table = naming.prices_table(environment.name)
        page = account.find("dynamodb", "scan", _ABSENT, TableName=table, **more)
        if page is None:
            return None
        found += [from_item(texts(item)) for item in page.get("Items", [])]
        if not page.get("LastEvaluatedKey"):
            break
        more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    return tuple(sorted(found, key=lambda record: record.key))


def by_type(kept: Iterable[PriceRecord]) -> Mapping[str, tuple[Price, ...]]:
    """The prices by instance type."""
    found: dict[str, tuple[Price, ...]] = {}
    for record in kept:
        found[record.instance_type] = (*found.get(record.instance_type, ()), record.price)
    return found


def keep(account: Writer, environment: Environment, record: PriceRecord) -> None:
    """Keep ``record`` in the place of the one with its key, unless a refresh came in between.

    Raises:
        Exception: as ``account`` raises when AWS does not answer, or refuses because of a later refresh.
    """
    account.ask(
        "dynamodb",
        "put_item",
        TableName=naming.prices_table(environment.name),
        Item={field: {"S": text} for field, text in to_item(record).items()},
        ConditionExpression="read_at = :read_at",
        ExpressionAttributeValues={":read_at": {"S": record.read_at}},
    )
