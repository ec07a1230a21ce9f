"""Who reads the price table: by its name, and no more of it than is needed."""

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from environments.model import Environment, Fleet, TrainingFleet
from fleet import naming
from fleet.fleet_spec import MarketKind
from fleet.prices import kind_for
from fleet.prices.record import price_key


def price_id(environment: Environment, fleet: Fleet, instance_type: str) -> str:
    """The item that holds the price of ``instance_type`` in the fleet's market."""
    return price_key(environment.region, instance_type, kind_for(MarketKind(fleet.market.kind)))


def agent_price_table(environment: Environment, fleet: Fleet, instance_type: str) -> Mapping[str, str] | None:
    """Where the agent of an ``instance_type`` reads its price; None where the fleet has agreed on its own."""
    if fleet.price is not None:
        return None
    return {"name": naming.prices_table(environment.name), "id": price_id(environment, fleet, instance_type)}


def allow_node(role: iam.Role, environment: Environment, fleet: Fleet) -> None:
    """Let a node read the one item that its dollars are counted at: that of its type, of those that a pool launches."""
    if fleet.price is None:
        is_pool = isinstance(fleet, TrainingFleet) and fleet.is_pool
        types = (fleet.instance_type, *(fleet.alternative_types if is_pool else ()))
        items = [price_id(environment, fleet, each) for each in types]
        only = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": items}}
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
