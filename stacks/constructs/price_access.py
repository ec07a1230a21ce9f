"""Who reads the price table: by its name, and no more of it than is needed."""

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from environments.fleets import Fleet
from environments.model import Environment
from fleet import naming
from fleet.fleet_spec import MarketKind
from fleet.prices import kind_for
from fleet.prices.record import price_key


def price_id(environment: Environment, fleet: Fleet, type_name: str) -> str | None:
    """The item that holds the price of a type on the fleet's market; None where the fleet has agreed on its own.

    The agreed rate is one of the fleet's own type. Another one that a pool launches is counted at its list price.
    """
    if fleet.price is not None and type_name == fleet.instance_type:
        return None
    return price_key(environment.region, type_name, kind_for(MarketKind(fleet.market.kind)))


def agent_price_table(environment: Environment, fleet: Fleet, type_name: str) -> Mapping[str, str] | None:
    """Where the agent of a node of that type reads its price; None where the fleet has agreed on its own."""
    found = price_id(environment, fleet, type_name)
    return None if found is None else {"name": naming.prices_table(environment.name), "id": found}


def allow_node(role: iam.Role, environment: Environment, fleet: Fleet, types: Sequence[str]) -> None:
    """Let a node, which is of one of ``types``, read the items that their dollars are counted at."""
    keys = [found for name in types if (found := price_id(environment, fleet, name))]
    if keys:
        only = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": keys}}
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
