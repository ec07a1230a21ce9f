"""Injected failures, as boto3 and CloudFormation meet them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError

from local.control import EmulatorControl, EmulatorGoneError
from tests.unit.local.emulator.conftest import Emulator

NO_CAPACITY = {"code": "InsufficientInstanceCapacity", "message": "Insufficient capacity."}
DENIED = {"code": "AccessDeniedException", "message": "User: fleet is not authorized"}


@pytest.fixture
def control(emulator: Emulator) -> Iterator[EmulatorControl]:
    yield EmulatorControl(emulator.url)
    EmulatorControl(emulator.url).set_faults([])


def _reservation(count: int) -> str:
    properties = {"InstanceType": "trn1.32xlarge", "InstancePlatform": "Linux/UNIX", "InstanceCount": count}
    resources = {
        "Reservation": {"Type": "AWS::EC2::CapacityReservation", "Properties": properties},
        "Parameter": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "x"}},
    }
    return json.dumps({"Resources": resources})


def _failures(stacks: Any, name: str, status: str) -> list[str]:
    events = stacks.describe_stack_events(StackName=name)["StackEvents"]
    return [
        event["ResourceStatusReason"]
        for event in events
        if event["ResourceStatus"] == status and event["LogicalResourceId"] == "Reservation"
    ]


def test_a_stack_whose_resource_cannot_be_made_rolls_back_and_keeps_the_reason(
    emulator: Emulator, control: EmulatorControl
) -> None:
    stacks = emulator.client("cloudformation")
    control.set_faults([{"call": "AWS::EC2::CapacityReservation", "error": NO_CAPACITY}])

    stacks.create_stack(StackName="no-capacity", TemplateBody=_reservation(4))
    with pytest.raises(WaiterError):
        stacks.get_waiter("stack_create_complete").wait(StackName="no-capacity", WaiterConfig={"Delay": 0.1})

    (reason,) = _failures(stacks, "no-capacity", "CREATE_FAILED")
    assert reason.startswith('Resource handler returned message: "Insufficient capacity. (Service: EC2;')
    assert "Error Code: InsufficientInstanceCapacity" in reason
    assert stacks.describe_stacks(StackName="no-capacity")["Stacks"][0]["StackStatus"] == "ROLLBACK_COMPLETE"


def test_a_fault_on_a_type_can_be_for_one_size_only_and_fails_an_update_too(
    emulator: Emulator, control: EmulatorControl
) -> None:
    stacks = emulator.client("cloudformation")
    match = {"InstanceCount": 8, "StackName": "growing"}
    control.set_faults([{"call": "AWS::EC2::CapacityReservation", "match": match, "error": NO_CAPACITY}])

    stacks.create_stack(StackName="growing", TemplateBody=_reservation(4))
    stacks.get_waiter("stack_create_complete").wait(StackName="growing", WaiterConfig={"Delay": 0.1})
    stacks.update_stack(StackName="growing", TemplateBody=_reservation(8))
    with pytest.raises(WaiterError):
        stacks.get_waiter("stack_update_complete").wait(StackName="growing", WaiterConfig={"Delay": 0.1})

    assert len(_failures(stacks, "growing", "UPDATE_FAILED")) == 1
    assert stacks.describe_stacks(StackName="growing")["Stacks"][0]["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    stacks.delete_stack(StackName="growing")
    stacks.get_waiter("stack_delete_complete").wait(StackName="growing", WaiterConfig={"Delay": 0.1})


@pytest.mark.parametrize(
    ("service", "operation", "arguments"),
    [
        ("ec2", "DescribeSubnets", {}),
        ("autoscaling", "DescribeAutoScalingGroups", {}),
        ("cloudwatch", "PutMetricData", {"Namespace": "N", "MetricData": [{"MetricName": "M", "Value": 1.0}]}),
        ("batch", "DescribeComputeEnvironments", {}),
        ("resource-groups", "ListGroups", {}),
        ("ssm", "GetParameter", {"Name": "/x"}),
        ("elbv2", "DescribeLoadBalancers", {}),
        ("lambda", "GetFunction", {"FunctionName": "f"}),
        ("s3", "ListBuckets", {}),
    ],
)
def test_a_missing_permission_is_answered_in_every_protocol(
    emulator: Emulator, control: EmulatorControl, service: str, operation: str, arguments: dict[str, Any]
) -> None:
    control.set_faults([{"call": f"{service}:{operation}", "error": DENIED}])
    client = emulator.client(service)
    method = next(name for name, known in client.meta.method_to_api_mapping.items() if known == operation)

    with pytest.raises(ClientError) as refused:
        getattr(client, method)(**arguments)

    error = refused.value.response["Error"]
    assert (error["Code"], error["Message"]) == (DENIED["code"], DENIED["message"])


def test_a_fault_on_a_call_can_be_for_one_parameter_only(emulator: Emulator, control: EmulatorControl) -> None:
    parameters = emulator.client("ssm")
    control.set_faults([{"call": "ssm:PutParameter", "match": {"Name": "/spoiled"}, "error": DENIED}])

    parameters.put_parameter(Name="/sound", Value="1", Type="String")
    with pytest.raises(ClientError, match="not authorized"):
        parameters.put_parameter(Name="/spoiled", Value="1", Type="String")


def test_a_new_list_of_faults_replaces_the_old_one(emulator: Emulator, control: EmulatorControl) -> None:
    control.set_faults([{"call": "sts:GetCallerIdentity", "error": DENIED}])
    second = {"call": "ec2:RunInstances", "match": {"InstanceType": "trn1.32xlarge"}, "error": NO_CAPACITY}
    control.set_faults([second])

    assert control.faults() == [second]
    assert emulator.client("sts").get_caller_identity()["Account"] == "000000000000"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"call": "ec2:RunInstance", "error": DENIED}, "ec2 has no operation RunInstance"),
        ({"call": "ecc2:RunInstances", "error": DENIED}, "ecc2: not the name of an AWS service"),
        ({"call": "RunInstances", "error": DENIED}, "neither service:Operation nor a resource type"),
        ({"call": "AWS::EC2::Reservation", "error": DENIED}, "no stack can hold"),
        ({"call": "ec2:RunInstances", "error": {"code": "X"}}, "is not"),
        ({"call": "ec2:RunInstances", "errors": DENIED}, "is not"),
    ],
)
def test_a_fault_that_could_never_happen_is_refused_in_one_line(
    control: EmulatorControl, fault: dict[str, Any], said: str
) -> None:
    with pytest.raises(EmulatorGoneError, match=said):
        control.set_faults([fault])

    assert control.faults() == []
