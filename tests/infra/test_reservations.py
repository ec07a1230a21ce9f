"""Reservations: in stacks of their own, after everything else, and found by their tags."""

import json
from typing import Any

import pytest
from aws_cdk.assertions import Template

from environments import loader
from environments.markets import Reservation
from environments.model import Environment
from stacks.platform import Platform
from tests.support.templates import platform, stage_of, templates


def reservation(environment: str, fleet: str) -> dict[str, Any]:
    found: dict[str, Any] = (
        templates(environment)[f"reservation-{fleet}"].resource("AWS::EC2::CapacityReservation").properties
    )
    return found


def staged(environment: Environment) -> Platform:
    return stage_of(environment)


def changed(environment: str, **market: Any) -> dict[str, Any]:
    """The reservation's properties after its market has changed by so much."""
    before = loader.load(environment)
    first, *others = before.fleets
    fleet = first.model_copy(update={"market": Reservation(kind="reservation", **market)})
    stage = staged(before.model_copy(update={"fleets": (fleet, *others)}))
    (found,) = (
        Template.from_stack(stage.reservations[first.name]).find_resources("AWS::EC2::CapacityReservation").items()
    )
    return {"logical id": found[0], **found[1]["Properties"]}


def test_a_reservation_is_made_for_the_whole_fleet_inside_its_placement_group() -> None:
    found = reservation("prod", "trn1-pretrain")
    wanted = {"InstanceType": "trn1.32xlarge", "InstanceCount": 16, "AvailabilityZone": "us-east-2c"}
    assert found.items() >= {**wanted, "InstanceMatchCriteria": "targeted", "EndDateType": "unlimited"}.items()
    start, group = found["PlacementGroupArn"]["Fn::Join"][1]
    assert start == "arn:aws:ec2:us-east-2:111122223333:placement-group/"
    assert group["Fn::GetStackOutput"]["StackName"] == "neuron-fleet-prod-capacity"


def test_the_watch_finds_a_reservation_by_its_tags() -> None:
    assert reservation("prod", "trn1-pretrain")["TagSpecifications"] == [
        {
            "ResourceType": "capacity-reservation",
            "Tags": [
                {"Key": "project", "Value": "neuron-fleet"},
                {"Key": "environment", "Value": "prod"},
                {"Key": "fleet", "Value": "trn1-pretrain"},
            ],
        }
    ]


def test_a_reservations_stack_holds_nothing_else_and_takes_it_along_when_it_goes() -> None:
    ((_, only),) = templates("prod")["reservation-trn1-pretrain"].body["Resources"].items()
    assert only["Type"] == "AWS::EC2::CapacityReservation"
    assert "DeletionPolicy" not in only
    assert "UpdateReplacePolicy" not in only


@pytest.mark.parametrize("environment", ["prod", "local"])
def test_a_reservation_comes_after_every_other_stack_and_before_none(environment: str) -> None:
    stacks = {stack.hierarchical_id: stack for stack in platform(environment).synth().stacks}
    waits_for = {
        name: {each.hierarchical_id for each in stack.dependencies} & stacks.keys() for name, stack in stacks.items()
    }
    last = f"{environment}/reservation-trn1-pretrain"
    assert waits_for[last] == stacks.keys() - {last}
    assert not [name for name, others in waits_for.items() if last in others]


def test_two_reservations_do_not_wait_for_each_other() -> None:
    prod = loader.load("prod")
    (first, *others) = prod.fleets
    second = first.model_copy(update={"name": "trn1-second"})
    stage = staged(prod.model_copy(update={"fleets": (first, second, *others)}))
    assert list(stage.reservations) == ["trn1-pretrain", "trn1-second"]
    for stack in stage.reservations.values():
        assert not {other.node.id for other in stack.dependencies} & {
            "reservation-trn1-pretrain",
            "reservation-trn1-second",
        }
        assert len(stack.dependencies) == len(stage.node.children) - 2


def test_no_other_stack_is_held_back_by_a_reservation_or_its_placement_group() -> None:
    for name, template in templates("prod").items():
        # The watch knows the stack by its name, to ask what became of it; it waits for nothing of it.
        assert (
            name.startswith("reservation-")
            or name == "capacity-watch"
            or "reservation-trn1" not in json.dumps(template.body)
        )
    exported = [name for name, output in templates("prod")["capacity"].body["Outputs"].items() if "Export" in output]
    assert not [name for name in exported if "Placement" in name]


@pytest.mark.parametrize("name", ["dev", "staging"])
def test_an_environment_that_reserves_nothing_has_no_such_stack(name: str) -> None:
    assert not [stack for stack in templates(name) if stack.startswith("reservation-")]


def test_an_existing_reservation_is_not_made_again() -> None:
    prod = loader.load("prod")
    market = Reservation(kind="reservation", reservation_id="cr-0a1b2c3d4e5f60718")
    fleet = prod.fleets[0].model_copy(update={"market": market})
    stage = staged(prod.model_copy(update={"fleets": (fleet, *prod.fleets[1:])}))
    assert stage.reservations == {}
    assert not Template.from_stack(stage.capacity).find_resources("AWS::ResourceGroups::Group")


# Of CloudFormation's registry, createOnlyProperties: a change of any other property changes the reservation in place.
REPLACES = {"InstanceType", "AvailabilityZone", "InstancePlatform", "PlacementGroupArn", "Tenancy", "EbsOptimized"}


@pytest.mark.parametrize(
    ("market", "differences"),
    [
        ({"instances": 20}, {"InstanceCount": 20}),
        ({"end_date": "2026-12-18T11:30:00Z"}, {"EndDateType": "limited", "EndDate": "2026-12-18T11:30:00Z"}),
        # 13:30 two hours east of Greenwich is 11:30 there.
        ({"end_date": "2026-12-18T13:30:00+02:00"}, {"EndDateType": "limited", "EndDate": "2026-12-18T11:30:00Z"}),
    ],
)
def test_more_instances_or_another_end_change_a_live_reservation_in_place(
    market: dict[str, Any], differences: dict[str, Any]
) -> None:
    before, after = changed("prod"), changed("prod", **market)
    assert {key: after[key] for key in after if before.get(key) != after[key]} == differences
    assert not REPLACES & differences.keys()
