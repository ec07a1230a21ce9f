"""Who reads the price table: by its name, and no more of it than is needed."""

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from fleet import naming
from fleet.capacity.plan import LaunchPlan
from fleet.prices import kind_for
from fleet.prices.record import price_key


def price_id(plan: LaunchPlan) -> str | None:
    """The item that holds the price of a plan's type on the fleet's market; None where the fleet has agreed on its own.

    The agreed rate is one of the fleet's own type. Another one that a pool launches is counted at its list price.
    """
    if plan.spec.price is not None:
        return None
    return price_key(plan.spec.region, plan.instance_type.name, kind_for(plan.market))


def agent_price_table(environment: str, plan: LaunchPlan) -> Mapping[str, str] | None:
    """Where the agent of a node of that type reads its price; None where the fleet has agreed on its own."""
    found = price_id(plan)
    return None if found is None else {"name": naming.prices_table(environment), "id": found}


def allow_node(role: iam.Role, environment: str, plans: Sequence[LaunchPlan]) -> None:
    """Let a node, which is of one of ``plans``, read the items that their dollars are counted at."""
    keys = [found for plan in plans if (found := price_id(plan))]
    if keys:
        only = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": keys}}
        _allow(role, environment, ["dynamodb:GetItem"], only)


def allow_function(role: iam.Role, environment: str) -> None:
    """Let a function read the prices of its fleets."""
    _allow(role, environment, ["dynamodb:BatchGetItem"], None)


def _allow(
    role: iam.Role, environment: str, actions: Sequence[str], when: Mapping[str, Mapping[str, list[str]]] | None
) -> None:
    table = Stack.of(role).format_arn(
        service="dynamodb", resource="table", resource_name=naming.prices_table(environment)
    )
    role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=[table], conditions=when))
