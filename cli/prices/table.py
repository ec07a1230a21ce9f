"""The price table of an environment, as people's commands read it and, where they ask for it, change it.

Commands that do without the newest prices say so when AWS does not answer, and go on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cli.account import Account
from environments.model import Environment
from fleet import naming
from fleet.fleet_spec import FleetSpec
from fleet.instances import Price
from fleet.prices import kind_for, price_of
from fleet.prices.record import PriceRecord, from_item, price_key, texts, to_item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import ScanInputTypeDef

from cli.account import AwsError, has_no_credentials
from cli.answers import complain, refuse
from environments import loader
from fleet.prices.record import PriceRecordError

_ABSENT: Final = ("ResourceNotFoundException",)
_PAGES: Final = 100


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
    answer = account.find(_ABSENT, account.dynamodb.get_item, TableName=table, Key={"id": {"S": key}})
    item = answer.get("Item") if answer else None
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
    request: ScanInputTypeDef = {"TableName": naming.prices_table(environment.name)}
    for _ in range(_PAGES):
        page = account.find(_ABSENT, account.dynamodb.scan, **request)
        if page is None:
            return None
        found += [from_item(texts(item)) for item in page.get("Items", [])]
        if not page.get("LastEvaluatedKey"):
            break
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    return tuple(sorted(found, key=lambda record: record.key))


def by_type(kept: Iterable[PriceRecord]) -> Mapping[str, tuple[Price, ...]]:
    """The prices by instance type."""
    found: dict[str, tuple[Price, ...]] = {}
    for record in kept:
        found[record.instance_type] = (*found.get(record.instance_type, ()), record.price)
    return found


def keep(account: Account, environment: Environment, record: PriceRecord) -> None:
    """Keep ``record`` in the place of the one with its key, unless a refresh came in between.

    Raises:
        Exception: as ``account`` raises when AWS does not answer, or refuses because of a later refresh.
    """
    account.dynamodb.put_item(
        TableName=naming.prices_table(environment.name),
        Item={field: {"S": text} for field, text in to_item(record).items()},
        ConditionExpression="read_at = :read_at",
        ExpressionAttributeValues={":read_at": {"S": record.read_at}},
    )


PRICES_HELP: Final = "An environment whose refreshed prices lie over the embedded ones. Default: offline."


def newest_or_embedded(account: Account, environment: str, spec: FleetSpec) -> FleetSpec:
    """``spec`` at the newest known price; at the embedded one, with a line about it, when the table is not answered."""
    try:
        return newest(account, environment, spec)
    except (AwsError, PriceRecordError) as error:
        if isinstance(error, AwsError) and has_no_credentials(error):
            raise
        complain(f"the refreshed price was not read, the embedded one counts: {error}")
        return spec


def of_environment(name: str | None) -> Mapping[str, tuple[Price, ...]]:
    """All refreshed prices of an environment by instance type; none without a ``name``. An error ends the command."""
    if name is None:
        return {}
    try:
        environment = loader.load(name)
        kept = records(Account(environment.region), environment)
    except (AwsError, PriceRecordError, loader.EnvironmentFileError) as error:
        refuse(error)
    if not kept:
        refuse(f"environment {environment.name} has no refreshed prices: fleet prices refresh {name}")
    return by_type(kept)
