"""Batch, Auto Scaling, CloudFormation and the parameters, as their APIs answer."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from fleet.fleet_spec import MarketKind
from fleet.reserved.observed import Activity, Batch, Job, Member, Stack
from lambdas.capacity_watch import adapters
from lambdas.capacity_watch.cloudformation import CHANGING, ChangingStacks, ReservationStacks
from lambdas.capacity_watch.engines import BatchEnvironments, ScalingGroups
from tests.support.watched_capacity import endpoint, place

Stubbed = Callable[[str], tuple[Any, Stubber]]
PLACE = place()
BEGAN = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
STACK = "neuron-fleet-prod-reservation-pretrain"
# 21 November 2026, 09:00 UTC.
CREATED_MILLISECONDS = 1795251600000


def environment(**more: Any) -> dict[str, Any]:
    described = {
        "computeEnvironmentName": "pretrain",
        "computeEnvironmentArn": PLACE.compute_environment,
        "ecsClusterArn": "arn",
        "state": "ENABLED",
        "status": "VALID",
        "statusReason": "ComputeEnvironment Healthy",
        "computeResources": {
            "type": "EC2",
            "minvCpus": 128,
            "desiredvCpus": 256,
            "maxvCpus": 2048,
            "subnets": [],
        },
        **more,
    }
    return {"computeEnvironments": [described]}


def summary(job_id: str, **more: Any) -> dict[str, Any]:
    return {"jobId": job_id, "jobName": job_id, "createdAt": CREATED_MILLISECONDS, **more}


def test_a_compute_environment_is_read_with_every_job_that_waits(stubbed: Stubbed) -> None:
    batch, stub = stubbed("batch")
    words = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Service cannot fulfill the capacity requested"
    asked = {"jobQueue": PLACE.queue, "jobStatus": "RUNNABLE"}
    stub.add_response(
        "describe_compute_environments", environment(), {"computeEnvironments": [PLACE.compute_environment]}
    )
    multi = summary("a", statusReason=words, nodeProperties={"numNodes": 16})
    stub.add_response("list_jobs", {"jobSummaryList": [multi], "nextToken": "2"}, asked)
    stub.add_response("list_jobs", {"jobSummaryList": [summary("b")]}, {**asked, "nextToken": "2"})

    assert BatchEnvironments(batch).of(PLACE) == Batch(
        state="ENABLED",
        status="VALID",
        words="ComputeEnvironment Healthy",
        minimum_vcpus=128,
        desired_vcpus=256,
        maximum_vcpus=2048,
        waiting=(Job("a", 16, BEGAN, words), Job("b", 1, BEGAN, "")),
    )


def test_a_compute_environment_that_batch_does_not_show_is_an_error_that_names_it(stubbed: Stubbed) -> None:
    batch, stub = stubbed("batch")
    stub.add_response("describe_compute_environments", {"computeEnvironments": []})

    with pytest.raises(LookupError, match="compute-environment/pretrain"):
        BatchEnvironments(batch).of(PLACE)


def test_only_the_minimum_of_an_environment_is_changed(stubbed: Stubbed) -> None:
    batch, stub = stubbed("batch")
    stub.add_response(
        "update_compute_environment",
        {},
        {"computeEnvironment": PLACE.compute_environment, "computeResources": {"minvCpus": 1536}},
    )

    BatchEnvironments(batch).keep(PLACE, 1536)


def test_batch_failing_is_passed_on(stubbed: Stubbed) -> None:
    batch, stub = stubbed("batch")
    stub.add_client_error("describe_compute_environments", "ServerException")

    with pytest.raises(ClientError, match="ServerException"):
        BatchEnvironments(batch).of(PLACE)


def activity(number: int, status: str, description: str = "Launching a new EC2 instance", **more: Any) -> Any:
    return {
        "ActivityId": str(number),
        "AutoScalingGroupName": "chat",
        "Cause": "a difference between desired and actual capacity",
        "Description": description,
        "StartTime": BEGAN + number * timedelta(minutes=1),
        "StatusCode": status,
        **more,
    }


def scaling_group(*instances: dict[str, Any]) -> dict[str, Any]:
    group = {
        "AutoScalingGroupName": "chat",
        "MinSize": 4,
        "MaxSize": 4,
        "DesiredCapacity": 4,
        "DefaultCooldown": 300,
        "AvailabilityZones": ["us-east-2a"],
        "HealthCheckType": "EC2",
        "CreatedTime": BEGAN,
        "Instances": list(instances),
    }
    return {"AutoScalingGroups": [group]}


def test_a_group_is_read_with_its_launches_from_the_newest_on(stubbed: Stubbed) -> None:
    client, stub = stubbed("autoscaling")
    member = {
        "InstanceId": "i-1",
        "AvailabilityZone": "us-east-2a",
        "LifecycleState": "InService",
        "HealthStatus": "Healthy",
        "ProtectedFromScaleIn": False,
    }
    stub.add_response("describe_auto_scaling_groups", scaling_group(member), {"AutoScalingGroupNames": ["chat"]})
    history = [
        activity(1, "Successful"),
        activity(2, "Successful", "Terminating EC2 instance: i-0"),
        activity(3, "Failed", StatusMessage="We currently do not have sufficient capacity"),
        activity(4, "PreInService"),
        activity(5, "Failed", "Launching a new EC2 instance into warm pool", StatusMessage="no capacity for the pool"),
        activity(6, "MidLifecycleAction", "Launching a new EC2 instance into warm pool: i-7"),
        activity(7, "Successful", "Launching a new EC2 instance from warm pool: i-8"),
    ]
    stub.add_response(
        "describe_scaling_activities", {"Activities": history}, {"AutoScalingGroupName": "chat", "MaxRecords": 100}
    )

    seen = ScalingGroups(client).of(endpoint())

    assert (seen.desired, seen.members) == (4, (Member("i-1", "InService"),))
    cause = "a difference between desired and actual capacity"
    # What goes wrong on the way into a warm pool keeps no load waiting.
    assert seen.launches == (
        Activity(BEGAN + timedelta(minutes=7), is_over=True, words=cause),
        Activity(BEGAN + timedelta(minutes=4), is_over=False, words=cause),
        Activity(
            BEGAN + timedelta(minutes=3),
            is_over=True,
            has_failed=True,
            words="We currently do not have sufficient capacity",
        ),
        Activity(BEGAN + timedelta(minutes=1), is_over=True, words=cause),
    )


def test_every_node_of_a_warm_pool_is_read(stubbed: Stubbed) -> None:
    client, stub = stubbed("autoscaling")

    def waiting(*ids: str) -> list[dict[str, Any]]:
        known = {"AvailabilityZone": "us-east-2a", "LifecycleState": "Warmed:Stopped", "HealthStatus": "Healthy"}
        return [{"InstanceId": each, "ProtectedFromScaleIn": False, **known} for each in ids]

    asked = {"AutoScalingGroupName": "chat", "MaxRecords": 50}
    stub.add_response("describe_warm_pool", {"Instances": waiting("i-1", "i-2"), "NextToken": "2"}, asked)
    stub.add_response("describe_warm_pool", {"Instances": waiting("i-3")}, {**asked, "NextToken": "2"})

    assert ScalingGroups(client).waiting(endpoint()) == {"i-1", "i-2", "i-3"}


def test_a_group_that_is_not_there_is_an_error_that_names_it(stubbed: Stubbed) -> None:
    client, stub = stubbed("autoscaling")
    stub.add_response("describe_auto_scaling_groups", {"AutoScalingGroups": []})

    with pytest.raises(LookupError, match="group chat"):
        ScalingGroups(client).of(endpoint())


def stack_event(number: int, status: str, kind: str = "Stack", reason: str = "") -> dict[str, Any]:
    types = {"Stack": "AWS::CloudFormation::Stack", "Reservation": "AWS::EC2::CapacityReservation"}
    return {
        "StackId": "id",
        "EventId": str(number),
        "StackName": STACK,
        "ResourceType": types[kind],
        "ResourceStatus": status,
        "ResourceStatusReason": reason,
        "Timestamp": BEGAN + timedelta(minutes=number),
    }


ICE = "We currently do not have sufficient trn1.32xlarge capacity"
CREATE_FAILED = [
    stack_event(4, "ROLLBACK_COMPLETE"),
    stack_event(3, "ROLLBACK_IN_PROGRESS", reason="The following resource(s) failed to create: [Reservation]"),
    stack_event(2, "CREATE_FAILED", "Reservation", ICE),
    stack_event(1, "CREATE_IN_PROGRESS", "Reservation"),
    stack_event(0, "CREATE_IN_PROGRESS", reason="User Initiated"),
]
# The rollback's own update of the reservation goes well, after the failure.
UPDATE_FAILED = [
    stack_event(5, "UPDATE_ROLLBACK_COMPLETE"),
    stack_event(4, "UPDATE_COMPLETE", "Reservation"),
    stack_event(3, "UPDATE_ROLLBACK_IN_PROGRESS"),
    stack_event(2, "UPDATE_FAILED", "Reservation", ICE),
    stack_event(0, "UPDATE_IN_PROGRESS"),
]


@pytest.mark.parametrize(
    ("history", "stack"),
    [
        (CREATE_FAILED, Stack(exists=True, failure=ICE)),
        (UPDATE_FAILED, Stack(exists=True, failure=ICE)),
        ([stack_event(0, "CREATE_IN_PROGRESS")], Stack(exists=True, is_busy_since=BEGAN)),
        # Tried again after a failure: of this attempt nothing is known yet.
        (
            [stack_event(6, "UPDATE_IN_PROGRESS"), *UPDATE_FAILED],
            Stack(exists=True, is_busy_since=BEGAN + timedelta(minutes=6)),
        ),
        ([stack_event(7, "UPDATE_COMPLETE"), *UPDATE_FAILED], Stack(exists=True)),
        ([stack_event(9, "DELETE_COMPLETE"), *CREATE_FAILED], Stack(exists=False)),
    ],
)
def test_a_stacks_events_say_what_became_of_its_reservation(
    stubbed: Stubbed, history: list[dict[str, Any]], stack: Stack
) -> None:
    client, stub = stubbed("cloudformation")
    stub.add_response("describe_stack_events", {"StackEvents": history}, {"StackName": STACK})

    assert ReservationStacks(client).of(PLACE) == stack


def test_a_stack_that_does_not_exist_is_no_error(stubbed: Stubbed) -> None:
    client, stub = stubbed("cloudformation")
    stub.add_client_error("describe_stack_events", "ValidationError", f"Stack [{STACK}] does not exist")

    assert ReservationStacks(client).of(PLACE) == Stack(exists=False)


def test_a_stack_that_may_not_be_looked_at_is_an_error(stubbed: Stubbed) -> None:
    client, stub = stubbed("cloudformation")
    stub.add_client_error("describe_stack_events", "AccessDenied", "not authorized")

    with pytest.raises(ClientError, match="not authorized"):
        ReservationStacks(client).of(PLACE)


def parameter(fleet: str) -> dict[str, Any]:
    value = {
        "environment": "prod",
        "fleet": fleet,
        "owner": "team",
        "instance_type": "trn1.32xlarge",
        "region": "us-east-2",
        "market": "reservation",
        "nodes": 16,
        "vcpus": 128,
        "ends_at": "2026-12-18T11:30:00Z",
    }
    return {"Name": f"/neuron-fleet/prod/capacity-watch/{fleet}", "Value": json.dumps(value), "LastModifiedDate": BEGAN}


def test_places_are_read_ten_at_a_time_and_kept_in_their_order(stubbed: Stubbed) -> None:
    client, stub = stubbed("ssm")
    fleets = [f"fleet-{number}" for number in range(12)]
    every = [parameter(fleet) for fleet in fleets]
    for page in (every[:10], every[10:]):
        asked = {"Names": [each["Name"] for each in page]}
        stub.add_response("get_parameters", {"Parameters": page[::-1]}, asked)

    found = adapters.places(client, "prod", fleets)

    assert [each.fleet for each in found] == fleets
    assert found[0].market is MarketKind.RESERVATION
    assert found[0].deployed_at == BEGAN
    assert found[0].ends_at == datetime(2026, 12, 18, 11, 30, tzinfo=UTC)


def test_a_parameter_that_is_not_there_is_named(stubbed: Stubbed) -> None:
    client, stub = stubbed("ssm")
    stub.add_response("get_parameters", {"Parameters": []})

    with pytest.raises(LookupError, match="there is no parameter /neuron-fleet/prod/capacity-watch/pretrain"):
        adapters.places(client, "prod", ["pretrain"])


def changing(stack: str, status: str = "UPDATE_IN_PROGRESS", minutes: int = 5, **more: Any) -> dict[str, Any]:
    began = BEGAN - timedelta(minutes=minutes)
    return {
        "StackName": f"neuron-fleet-{stack}",
        "StackStatus": status,
        "CreationTime": BEGAN - timedelta(days=90),
        "LastUpdatedTime": began,
        **more,
    }


def test_an_environments_stacks_are_changing_until_they_hang(stubbed: Stubbed) -> None:
    cloudformation, stub = stubbed("cloudformation")
    asked = {"StackStatusFilter": list(CHANGING)}
    new = {"StackName": "neuron-fleet-prod-pool", "StackStatus": "CREATE_IN_PROGRESS", "CreationTime": BEGAN}
    first = [
        changing("prod-training"),
        changing("dev-training"),
        changing("prod-reservation-pretrain"),
        changing("prod-network", minutes=120),
    ]
    stub.add_response("list_stacks", {"StackSummaries": first, "NextToken": "2"}, asked)
    stub.add_response("list_stacks", {"StackSummaries": [new]}, {**asked, "NextToken": "2"})

    found = ChangingStacks(cloudformation).of("prod", BEGAN)

    assert found == ("neuron-fleet-prod-training", "neuron-fleet-prod-pool")


def test_a_stack_that_waits_for_a_person_is_not_changing() -> None:
    assert "REVIEW_IN_PROGRESS" not in CHANGING


def test_cloudformation_failing_is_passed_on_here_too(stubbed: Stubbed) -> None:
    cloudformation, stub = stubbed("cloudformation")
    stub.add_client_error("list_stacks", "Throttling")

    with pytest.raises(ClientError, match="Throttling"):
        ChangingStacks(cloudformation).of("prod", BEGAN)
