"""Reservations, their groups and instances, as the AWS APIs answer: pages, errors, and what is never asked."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from lambdas.capacity_watch.ec2 import Ec2Nodes, Ec2Reservations
from tests.support.watched_capacity import named, on_demand, place, reservation

Stubbed = Callable[[str], tuple[Any, Stubber]]
ARN = "arn:aws:ec2:us-east-2:111122223333:capacity-reservation/"
GROUP_ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/ultra"
START = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
TAGS = [
    {"Name": "tag:project", "Values": ["neuron-fleet"]},
    {"Name": "tag:environment", "Values": ["prod"]},
    {"Name": "tag:fleet", "Values": ["pretrain"]},
]


def described(reservation_id: str = "cr-1", **more: Any) -> dict[str, Any]:
    return {
        "CapacityReservationId": reservation_id,
        "CapacityReservationArn": ARN + reservation_id,
        "State": "active",
        "InstanceType": "trn1.32xlarge",
        "AvailabilityZone": "us-east-2c",
        "TotalInstanceCount": 16,
        "AvailableInstanceCount": 3,
        "ReservationType": "default",
        "CreateDate": START,
        **more,
    }


def member(reservation_id: str) -> dict[str, Any]:
    return {"Identifier": {"ResourceArn": ARN + reservation_id, "ResourceType": "AWS::EC2::CapacityReservation"}}


def test_reservations_that_were_made_with_the_fleet_are_found_by_their_tags_on_every_page(stubbed: Stubbed) -> None:
    (ec2, ec2_stub), (groups, _) = stubbed("ec2"), stubbed("resource-groups")
    answer = "describe_capacity_reservations"
    ec2_stub.add_response(answer, {"CapacityReservations": [described()], "NextToken": "2"}, {"Filters": TAGS})
    ec2_stub.add_response(
        answer,
        {"CapacityReservations": [described("cr-2", State="failed")]},
        {"Filters": TAGS, "NextToken": "2"},
    )

    found = Ec2Reservations(ec2, groups).of(place())

    assert [(r.reservation_id, r.state, r.total, r.available, r.is_block) for r in found] == [
        ("cr-1", "active", 16, 3, False),
        ("cr-2", "failed", 16, 3, False),
    ]
    assert (found[0].created_at, found[0].starts_at, found[0].ends_at) == (START, None, None)


def test_all_reservations_of_an_environment_are_found_with_their_fleets(stubbed: Stubbed) -> None:
    (ec2, stub), (groups, _) = stubbed("ec2"), stubbed("resource-groups")
    tagged = described("cr-1", Tags=[{"Key": "project", "Value": "neuron-fleet"}, {"Key": "fleet", "Value": "gone"}])
    answer = {"CapacityReservations": [tagged, described("cr-2")]}
    stub.add_response("describe_capacity_reservations", answer, {"Filters": TAGS[:2]})

    found = Ec2Reservations(ec2, groups).made_in("prod")

    assert [(fleet, each.reservation_id) for fleet, each in found] == [("gone", "cr-1"), ("", "cr-2")]


def test_a_named_block_is_found_by_its_id(stubbed: Stubbed) -> None:
    (ec2, ec2_stub), (groups, _) = stubbed("ec2"), stubbed("resource-groups")
    entry = described(ReservationType="capacity-block", StartDate=START, EndDate=START)
    ec2_stub.add_response(
        "describe_capacity_reservations", {"CapacityReservations": [entry]}, {"CapacityReservationIds": ["cr-1"]}
    )

    (found,) = Ec2Reservations(ec2, groups).of(named())

    assert (found.is_block, found.starts_at, found.ends_at) == (True, START, START)


def test_an_id_that_ec2_does_not_know_is_no_reservation_and_no_error(stubbed: Stubbed) -> None:
    (ec2, ec2_stub), (groups, _) = stubbed("ec2"), stubbed("resource-groups")
    ec2_stub.add_client_error("describe_capacity_reservations", "InvalidCapacityReservationId.NotFound")

    assert Ec2Reservations(ec2, groups).of(named()) == ()


def test_any_other_error_is_not_taken_for_an_absent_reservation(stubbed: Stubbed) -> None:
    (ec2, ec2_stub), (groups, _) = stubbed("ec2"), stubbed("resource-groups")
    ec2_stub.add_client_error("describe_capacity_reservations", "RequestLimitExceeded")

    with pytest.raises(ClientError, match="RequestLimitExceeded"):
        Ec2Reservations(ec2, groups).of(named())


def test_the_members_of_a_named_group_are_described_by_their_ids(stubbed: Stubbed) -> None:
    (ec2, ec2_stub), (groups, groups_stub) = stubbed("ec2"), stubbed("resource-groups")
    groups_stub.add_response(
        "list_group_resources", {"Resources": [member("cr-2")], "NextToken": "2"}, {"Group": GROUP_ARN}
    )
    groups_stub.add_response(
        "list_group_resources", {"Resources": [member("cr-1")]}, {"Group": GROUP_ARN, "NextToken": "2"}
    )
    ec2_stub.add_response(
        "describe_capacity_reservations",
        {"CapacityReservations": [described(), described("cr-2")]},
        {"CapacityReservationIds": ["cr-1", "cr-2"]},
    )

    found = Ec2Reservations(ec2, groups).of(named(reservation_id=None, resource_group=GROUP_ARN))

    assert [r.reservation_id for r in found] == ["cr-1", "cr-2"]


def test_an_empty_group_does_not_ask_for_every_reservation_of_the_account(stubbed: Stubbed) -> None:
    (ec2, _), (groups, groups_stub) = stubbed("ec2"), stubbed("resource-groups")
    groups_stub.add_response("list_group_resources", {"Resources": []}, {"Group": GROUP_ARN})

    assert Ec2Reservations(ec2, groups).of(named(reservation_id=None, resource_group=GROUP_ARN)) == ()


def test_a_reservation_joins_the_fleets_group_once(stubbed: Stubbed) -> None:
    (ec2, _), (groups, groups_stub) = stubbed("ec2"), stubbed("resource-groups")
    group = "neuron-fleet-prod-pretrain"
    new = reservation(reservation_id="cr-2")
    groups_stub.add_response("list_group_resources", {"Resources": [member("cr-1")]}, {"Group": group})
    groups_stub.add_response("group_resources", {"Succeeded": [new.arn]}, {"Group": group, "ResourceArns": [new.arn]})
    groups_stub.add_response("list_group_resources", {"Resources": [member("cr-1"), member("cr-2")]}, {"Group": group})
    reservations = Ec2Reservations(ec2, groups)

    reservations.join(place(), (reservation(), new))
    reservations.join(place(), (reservation(), new))


def test_what_has_ended_is_not_put_into_the_group_and_nothing_is_asked_for_it(stubbed: Stubbed) -> None:
    (ec2, _), (groups, _) = stubbed("ec2"), stubbed("resource-groups")
    ended = tuple(reservation(state=state) for state in ("expired", "cancelled", "failed"))

    Ec2Reservations(ec2, groups).join(place(), ended)
    Ec2Reservations(ec2, groups).join(named(), (reservation(),))


def test_a_refused_member_is_an_error_in_the_words_of_resource_groups(stubbed: Stubbed) -> None:
    (ec2, _), (groups, groups_stub) = stubbed("ec2"), stubbed("resource-groups")
    groups_stub.add_response("list_group_resources", {"Resources": []})
    failed = [{"ResourceArn": ARN + "cr-1", "ErrorMessage": "not allowed", "ErrorCode": "ACCESS_DENIED"}]
    groups_stub.add_response("group_resources", {"Failed": failed})

    with pytest.raises(LookupError, match="cr-1 does not go into neuron-fleet-prod-pretrain: not allowed"):
        Ec2Reservations(ec2, groups).join(place(), (reservation(),))


def instance(instance_id: str, **more: Any) -> dict[str, Any]:
    return {"InstanceId": instance_id, "LaunchTime": START, **more}


def test_nodes_are_the_instances_with_the_fleets_tags_that_are_or_become_running(stubbed: Stubbed) -> None:
    ec2, stub = stubbed("ec2")
    states = {"Name": "instance-state-name", "Values": ["pending", "running"]}
    asked = {"Filters": [*TAGS, states], "MaxResults": 1000}
    stub.add_response(
        "describe_instances", {"Reservations": [{"Instances": [instance("i-1")]}], "NextToken": "2"}, asked
    )
    stub.add_response(
        "describe_instances",
        {"Reservations": [{"Instances": [instance("i-2", CapacityReservationId="cr-1")]}]},
        {**asked, "NextToken": "2"},
    )

    found = Ec2Nodes(ec2).of(on_demand())

    assert [(n.instance_id, n.launched_at, n.reservation_id) for n in found] == [
        ("i-1", START, None),
        ("i-2", START, "cr-1"),
    ]


@pytest.mark.parametrize(
    ("tags", "fleet"),
    [
        ({"project": "neuron-fleet", "environment": "prod", "fleet": "chat"}, ("prod", "chat")),
        ({"project": "somebody-elses", "environment": "prod", "fleet": "chat"}, None),
        ({}, None),
    ],
)
def test_the_fleet_of_an_instance_is_read_off_its_tags(
    stubbed: Stubbed, tags: dict[str, str], fleet: tuple[str, str] | None
) -> None:
    ec2, stub = stubbed("ec2")
    of_ec2 = [{"Key": key, "Value": value} for key, value in tags.items()]
    stub.add_response(
        "describe_instances",
        {"Reservations": [{"Instances": [instance("i-1", Tags=of_ec2)]}]},
        {"Filters": [{"Name": "instance-id", "Values": ["i-1"]}]},
    )

    assert Ec2Nodes(ec2).fleet_of("i-1") == fleet


def test_an_instance_that_is_gone_is_nobodys(stubbed: Stubbed) -> None:
    ec2, stub = stubbed("ec2")
    stub.add_response("describe_instances", {"Reservations": []})

    assert Ec2Nodes(ec2).fleet_of("i-1") is None
