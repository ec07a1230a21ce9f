"""The handler that checks resources against CloudFormation's registry schemas."""

from typing import Any

import pytest

from local.emulator.extensions.stacks import SCHEMA_BACKED_TYPES
from local.emulator.resources.schemas import PropertyError
from local.emulator.resources.store import ResourceStore, SchemaBackedHandler

RESERVATION = {"InstanceType": "trn1.32xlarge", "InstancePlatform": "Linux/UNIX", "InstanceCount": "4"}


def _handler(type_name: str, store: ResourceStore | None = None) -> SchemaBackedHandler:
    return SchemaBackedHandler(
        type_name, "000000000000", lambda: "us-east-2", ResourceStore() if store is None else store
    )


def test_a_capacity_reservation_gets_an_id_of_its_form_and_its_attributes() -> None:
    store = ResourceStore()

    physical_id, attributes = _handler("AWS::EC2::CapacityReservation", store).create("Cr", RESERVATION, "stack")

    assert physical_id.startswith("cr-")
    assert len(physical_id) == 20
    assert attributes["TotalInstanceCount"] == 4
    assert attributes["CapacityReservationArn"].endswith(f"capacity-reservation/{physical_id}")
    assert len(store) == 1


def test_a_placement_group_is_known_by_its_name_and_has_an_id() -> None:
    name, attributes = _handler("AWS::EC2::PlacementGroup").create("Pg", {"Strategy": "cluster"}, "stack")

    assert name.startswith("stack-Pg-")
    assert attributes["GroupId"].startswith("pg-")


def test_a_batch_queue_is_known_by_its_arn() -> None:
    order = {"ComputeEnvironmentOrder": [{"ComputeEnvironment": "ce", "Order": 1}], "JobQueueName": "q", "Priority": 1}

    arn, _ = _handler("AWS::Batch::JobQueue").create("Queue", order, "stack")

    assert arn == "arn:aws:batch:us-east-2:000000000000:job-queue/q"


@pytest.mark.parametrize(
    ("type_name", "properties", "named"),
    [
        ("AWS::EC2::CapacityReservation", {"InstanceType": "trn1.2xlarge"}, "is required"),
        ("AWS::EC2::CapacityReservation", {**RESERVATION, "InstanceCounts": 4}, "InstanceCounts does not exist"),
        ("AWS::EC2::CapacityReservation", {**RESERVATION, "InstanceCount": "four"}, "InstanceCount: 'four'"),
        ("AWS::EC2::CapacityReservation", {**RESERVATION, "State": "active"}, "State: is read-only"),
        (
            "AWS::Batch::ComputeEnvironment",
            {"Type": "MANAGED", "ComputeResources": {"MaxvCpus": "x", "Type": "EC2", "Subnets": []}},
            "MaxvCpus",
        ),
        ("AWS::ECS::CapacityProvider", {"Tags": {"a": "b"}}, "not of type"),
    ],
)
def test_a_wrong_property_fails_the_deploy_with_its_path(
    type_name: str, properties: dict[str, Any], named: str
) -> None:
    with pytest.raises(PropertyError, match=named):
        _handler(type_name).create("R", properties, "stack")


def test_an_update_in_place_keeps_the_id_and_a_create_only_change_replaces() -> None:
    store = ResourceStore()
    handler = _handler("AWS::EC2::CapacityReservation", store)
    first, _ = handler.create("Cr", RESERVATION, "stack")

    same, _ = handler.update(first, RESERVATION, {**RESERVATION, "InstanceCount": 5}, "stack", "Cr")
    other, _ = handler.update(first, RESERVATION, {**RESERVATION, "InstanceType": "trn1.2xlarge"}, "stack", "Cr")

    assert same == first
    assert other != first
    assert [each.physical_id for each in store.of_type("us-east-2", "AWS::EC2::CapacityReservation")] == [other]


@pytest.mark.parametrize("type_name", SCHEMA_BACKED_TYPES)
def test_every_listed_type_has_a_schema_that_refuses_nonsense(type_name: str) -> None:
    with pytest.raises(PropertyError, match=r"is required|does not exist"):
        _handler(type_name).create("R", {"NoSuchProperty": 1}, "stack")
