"""What nodes are launched from: interfaces, market, placement, metadata, disks, and rights in full."""

import json
from typing import Any

import pytest
from aws_cdk.assertions import Template

from environments import loader
from tests.support.templates import stage_of, templates

EACH = [(environment, fleet.name) for environment in loader.available() for fleet in loader.load(environment).fleets]


def launch_data(environment: str, fleet: str) -> dict[str, Any]:
    template = templates(environment)["capacity"].resource("AWS::EC2::LaunchTemplate", f"{fleet}/Launch/")
    data: dict[str, Any] = template.properties["LaunchTemplateData"]
    return data


def cards(environment: str, fleet: str) -> list[tuple[int, int, str]]:
    return [
        (interface["NetworkCardIndex"], interface["DeviceIndex"], interface["InterfaceType"])
        for interface in launch_data(environment, fleet)["NetworkInterfaces"]
    ]


def test_trn1_has_an_efa_interface_on_each_of_its_eight_cards() -> None:
    assert cards("prod", "trn1-pretrain") == [
        (0, 0, "efa"), (1, 1, "efa"), (2, 1, "efa"), (3, 1, "efa"), (4, 1, "efa"), (5, 1, "efa"), (6, 1, "efa"),
        (7, 1, "efa"),
    ]  # fmt: skip


def test_trn2_has_an_efa_interface_on_each_of_its_sixteen_cards() -> None:
    assert cards("prod", "trn2-frontier") == [
        (0, 0, "efa"), (1, 1, "efa"), (2, 1, "efa"), (3, 1, "efa"), (4, 1, "efa"), (5, 1, "efa"), (6, 1, "efa"),
        (7, 1, "efa"), (8, 1, "efa"), (9, 1, "efa"), (10, 1, "efa"), (11, 1, "efa"), (12, 1, "efa"), (13, 1, "efa"),
        (14, 1, "efa"), (15, 1, "efa"),
    ]  # fmt: skip


def test_inf2_has_one_plain_interface() -> None:
    assert cards("prod", "inf2-chat") == [(0, 0, "interface")]


def test_only_nodes_with_efa_are_in_the_efa_group() -> None:
    for fleet, count in {"trn1-pretrain": 2, "trn2-frontier": 2, "inf2-chat": 1}.items():
        for interface in launch_data("prod", fleet)["NetworkInterfaces"]:
            groups = json.dumps(interface["Groups"])
            assert len(interface["Groups"]) == count
            assert ("EfaGroup" in groups) == (count == 2)


def test_the_nodes_of_a_job_reach_each_other_without_efa_too() -> None:
    dev = loader.load("dev")
    fleets = tuple(fleet.model_copy(update={"nodes": 2}) for fleet in dev.fleets)
    capacity = stage_of(dev.model_copy(update={"fleets": fleets})).capacity
    found = {
        data["InstanceType"]: json.dumps(data["NetworkInterfaces"])
        for template in Template.from_stack(capacity).find_resources("AWS::EC2::LaunchTemplate").values()
        for data in [template["Properties"]["LaunchTemplateData"]]
    }
    assert {name: "EfaGroup" in interfaces for name, interfaces in found.items()} == {
        "trn1.2xlarge": True,
        "inf2.xlarge": False,
    }


@pytest.mark.parametrize(("environment", "fleet"), EACH)
def test_nodes_demand_metadata_tokens_and_encrypt_their_disks(environment: str, fleet: str) -> None:
    data = launch_data(environment, fleet)
    assert data["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}
    assert [mapping["Ebs"]["Encrypted"] for mapping in data["BlockDeviceMappings"]] == [True]


def test_a_capacity_block_is_bought_as_one_and_in_no_placement_group() -> None:
    data = launch_data("prod", "trn2-frontier")
    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    assert "Placement" not in data


def test_a_reserved_fleet_is_launched_into_a_group_that_is_there_before_its_reservation_is() -> None:
    capacity = templates("prod")["capacity"]
    together = capacity.resource("AWS::EC2::PlacementGroup")
    reserved = capacity.resource("AWS::ResourceGroups::Group")
    assert together.properties["Strategy"] == "cluster"

    data = launch_data("prod", "trn1-pretrain")
    assert data["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {
            "CapacityReservationResourceGroupArn": {"Fn::GetAtt": [reserved.logical_id, "Arn"]}
        }
    }
    assert data["Placement"] == {"GroupName": {"Fn::GetAtt": [together.logical_id, "GroupName"]}}
    assert "InstanceMarketOptions" not in data
    assert capacity.resources("AWS::EC2::CapacityReservation") == []


def test_a_group_of_reservations_takes_reservations_only_and_leaves_its_members_to_the_watch() -> None:
    group = templates("prod")["capacity"].resource("AWS::ResourceGroups::Group").properties
    assert group["Name"] == "neuron-fleet-prod-trn1-pretrain"
    assert group["Configuration"] == [
        {"Type": "AWS::EC2::CapacityReservationPool"},
        {
            "Type": "AWS::ResourceGroups::Generic",
            "Parameters": [{"Name": "allowed-resource-types", "Values": ["AWS::EC2::CapacityReservation"]}],
        },
    ]
    assert "Resources" not in group
    assert "ResourceQuery" not in group


def test_the_agent_is_told_what_an_hour_costs_and_who_says_so() -> None:
    parameter = templates("prod")["capacity"].resource("AWS::SSM::Parameter", "trn2-frontier/")
    told = json.loads(parameter.properties["Value"])
    assert parameter.properties["Name"] == "/neuron-fleet/prod/agents/trn2-frontier"
    assert told["price"]["usd_per_hour"] == 35.7608
    assert (told["price"]["kind"], told["price"]["as_of"]) == ("capacity-block", "2026-10-09")
    assert told["log_group"] == "/neuron-fleet/prod/nodes"


def test_these_are_all_the_rights_of_a_training_node() -> None:
    capacity = templates("prod")["capacity"]
    role = capacity.resource("AWS::IAM::Role", "trn1-pretrain/")
    assert "ManagedPolicyArns" not in role.properties
    policy = capacity.resource("AWS::IAM::Policy", "trn1-pretrain/").properties["PolicyDocument"]["Statement"]
    ours = "us-east-2:111122223333"
    unscoped = [
        "ec2messages:AcknowledgeMessage", "ec2messages:DeleteMessage", "ec2messages:FailMessage",
        "ec2messages:GetEndpoint", "ec2messages:GetMessages", "ec2messages:SendReply", "ecr:GetAuthorizationToken",
        "ecs:DiscoverPollEndpoint", "ssm:UpdateInstanceInformation", "ssmmessages:CreateControlChannel",
        "ssmmessages:CreateDataChannel", "ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel",
    ]  # fmt: skip
    cluster = [
        "ecs:DeregisterContainerInstance", "ecs:RegisterContainerInstance", "ecs:SubmitAttachmentStateChanges",
        "ecs:SubmitContainerStateChange", "ecs:SubmitTaskStateChange",
    ]  # fmt: skip
    instance = ["ecs:Poll", "ecs:StartTelemetrySession", "ecs:UpdateContainerInstancesState"]
    pull = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]

    assert all(statement["Effect"] == "Allow" for statement in policy)
    granted = [(statement["Action"], statement["Resource"], statement.get("Condition")) for statement in policy]
    expected: list[tuple[Any, Any, Any]] = [
        ("cloudwatch:PutMetricData", "*", {"StringEquals": {"cloudwatch:namespace": "NeuronFleet"}}),
        (unscoped, "*", None),
        (cluster, f"arn:aws:ecs:{ours}:cluster/*Batch*", None),
        (instance, f"arn:aws:ecs:{ours}:container-instance/*Batch*/*", None),
        (
            "ecs:TagResource",
            f"arn:aws:ecs:{ours}:container-instance/*Batch*/*",
            {"StringEquals": {"ecs:CreateAction": "RegisterContainerInstance"}},
        ),
        (pull, f"arn:aws:ecr:{ours}:repository/training", None),
        (
            "dynamodb:GetItem",
            f"arn:aws:dynamodb:{ours}:table/neuron-fleet-prod-prices",
            {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["us-east-2/trn1.32xlarge/on-demand"]}},
        ),
        (
            ["logs:CreateLogStream", "logs:PutLogEvents"],
            [f"arn:aws:logs:{ours}:log-group:/neuron-fleet/prod/{group}:*" for group in ("jobs", "nodes")],
            None,
        ),
    ]
    for right in expected:
        assert right in granted
    rest = [right for right in granted if right not in expected]
    assert [action for action, _, _ in rest] == ["ssm:GetParameter", "s3:GetObject", "elasticfilesystem:ClientMount"]
    parameters, code, cache = (json.dumps(resource) for _, resource, _ in rest)
    assert "trn1pretrainAgent" in parameters
    assert "AgentCodeLocation" in parameters
    assert "*" not in parameters + code + cache


@pytest.mark.parametrize("environment", loader.available())
def test_a_changed_launch_template_is_never_held_back_by_who_uses_it(environment: str) -> None:
    outputs = templates(environment)["capacity"].body["Outputs"]
    exported = [name for name, output in outputs.items() if "Export" in output]
    assert not [name for name in exported if "LaunchTemplate" in name]


def test_a_fleet_may_bring_its_own_image() -> None:
    staging = loader.load("staging")
    training, *others = staging.fleets
    environment = staging.model_copy(
        update={"fleets": (training.model_copy(update={"image_parameter": "/our/efa-image"}), *others)}
    )

    stage = stage_of(environment)
    for stack in (stage.capacity, stage.training):
        parameters = Template.from_stack(stack).to_json()["Parameters"].values()
        assert "/our/efa-image" in [parameter["Default"] for parameter in parameters]
