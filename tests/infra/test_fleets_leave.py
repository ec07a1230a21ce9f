"""What is taken out of an environment's file leaves AWS at the next deploy.

Stacks are deployed in the order of their dependencies, and CloudFormation refuses to take away an export that another
stack, which is deployed later or no more at all, still imports.
"""

import json
import re
from typing import Any

import aws_cdk as cdk
import pytest

from environments import loader
from environments.markets import OnDemand
from environments.model import Environment
from tests.support.clients import PEERED, PUBLIC, called_by
from tests.support.templates import stage_of, templates_of

FLEETS = [(name, fleet.name) for name in loader.available() for fleet in loader.load(name).fleets]


def deployed(environment: Environment) -> dict[str, dict[str, Any]]:
    return {template.name: template.body for template in templates_of(stage_of(environment)).values()}


def exports(template: dict[str, Any]) -> set[str]:
    return {output["Export"]["Name"] for output in template.get("Outputs", {}).values() if "Export" in output}


def in_the_way(before: Environment, after: Environment) -> dict[str, set[str]]:
    """By stack as it stands before: what it imports and another stack is to take away."""
    stands, comes = deployed(before), deployed(after)
    gone = {name for stack, template in stands.items() for name in exports(template) - exports(comes.get(stack, {}))}
    imported = {stack: set(re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(stands[stack]))) for stack in stands}
    return {stack: names & gone for stack, names in imported.items() if names & gone}


@pytest.mark.parametrize(("environment", "fleet"), FLEETS)
def test_any_fleet_can_leave_the_file(environment: str, fleet: str) -> None:
    before = loader.load(environment)
    others = tuple(other for other in before.fleets if other.name != fleet)
    assert in_the_way(before, before.model_copy(update={"fleets": others})) == {}


def test_a_fleet_can_give_up_its_reservation_its_block_and_its_placement_group() -> None:
    before = loader.load("prod")
    fleets = tuple(fleet.model_copy(update={"market": OnDemand(kind="on-demand")}) for fleet in before.fleets)
    assert in_the_way(before, before.model_copy(update={"fleets": fleets})) == {}


@pytest.mark.parametrize("purpose", ["training", "inference"])
def test_an_environment_may_have_fleets_of_one_purpose_only(purpose: str) -> None:
    before = loader.load("prod")
    fleets = tuple(fleet for fleet in before.fleets if fleet.purpose == purpose)
    app = stage_of(before.model_copy(update={"fleets": fleets})).node.root
    assert isinstance(app, cdk.App)

    # With the checks that the command line makes, which a stage's own synthesis leaves out.
    assert app.synth().nested_assemblies


@pytest.mark.parametrize(("before", "after"), [({}, PUBLIC), (PUBLIC, {}), (PUBLIC, PEERED), (PEERED, PUBLIC)])
def test_an_endpoint_goes_to_the_internet_and_comes_back(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert in_the_way(called_by(**before), called_by(**after)) == {}


def test_two_endpoints_whose_names_differ_by_a_dash_are_two() -> None:
    shipped = loader.load("prod")
    (chat,) = shipped.inference_fleets
    fleets = tuple(chat.model_copy(update={"name": name}) for name in ("a1-b", "a1b"))
    assert deployed(shipped.model_copy(update={"fleets": fleets}))
