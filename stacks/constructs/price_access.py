"""Who reads the price table: by its name, and no more of it than is needed."""

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from environments.model import Environment, Fleet
from fleet import naming
from fleet.fleet_spec import MarketKind
from fleet.prices import kind_for
from fleet.prices.record import price_key


def price_id(environment: Environment, fleet: Fleet) -> str:
    """The item that holds the price of the fleet's type and market."""
    return price_key(environment.region, fleet.instance_type, kind_for(MarketKind(fleet.market.kind)))


def agent_price_table(environment: Environment, fleet: Fleet) -> Mapping[str, str] | None:
    """Where an agent reads its price; None where the fleet has agreed on its own."""
    if fleet.price is not None:
        return None
    return {"name": naming.prices_table(environment.name), "id": price_id(environment, fleet)}


def allow_node(role: iam.Role, environment: Environment, fleet: Fleet) -> None:
    """Let a node read the one item that its dollars are counted at."""
    if fleet.price is None:
        only = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [price_id(environment, fleet)]}}
        _allow(role, environment, ["dynamodb:GetItem"], only)


def allow_function(role: iam.Role, environment: Environment) -> None:
    """Let a function read the prices of its fleets."""
    _allow(role, environment, ["dynamodb:BatchGetItem"], None)


def _allow(
    role: iam.Role, environment: Environment, actions: Sequence[str], when: Mapping[str, Mapping[str, list[str]]] | None
) -> None:
    table = Stack.of(role).format_arn(
        service="dynamodb", resource="table", resource_name=naming.prices_table(environment.name)
    )
    role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=[table], conditions=when))
