"""The network: EFA's security group in both directions, private nodes, recorded flows."""

from ipaddress import IPv4Network

import pytest

from environments import loader
from environments.network import GATEWAY_ADDRESSES, PUBLIC_ADDRESSES, RESERVED_ADDRESSES
from tests.support.templates import platform, templates

ENVIRONMENTS = loader.available()


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_efa_traffic_is_allowed_from_the_group_and_to_the_group(environment: str) -> None:
    network = templates(environment)["network"]
    group = network.resource("AWS::EC2::SecurityGroup", "EfaGroup")
    itself = {"Fn::GetAtt": [group.logical_id, "GroupId"]}

    (egress,) = network.resources("AWS::EC2::SecurityGroupEgress")
    assert egress.properties["GroupId"] == egress.properties["DestinationSecurityGroupId"] == itself
    assert egress.properties["IpProtocol"] == "-1"

    ingress = network.resource("AWS::EC2::SecurityGroupIngress", "EfaGroup")
    assert ingress.properties["GroupId"] == ingress.properties["SourceSecurityGroupId"] == itself
    assert ingress.properties["IpProtocol"] == "-1"
    assert group.properties["SecurityGroupEgress"][0]["CidrIp"] == "0.0.0.0/0"


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_security_group_lets_the_internet_in(environment: str) -> None:
    for template in templates(environment).values():
        for group in template.resources("AWS::EC2::SecurityGroup"):
            assert all(rule.get("CidrIp") != "0.0.0.0/0" for rule in group.properties.get("SecurityGroupIngress", []))
        for rule in template.resources("AWS::EC2::SecurityGroupIngress"):
            assert "CidrIp" not in rule.properties


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_each_zone_of_the_file_has_a_node_subnet_without_public_addresses(environment: str) -> None:
    subnets = templates(environment)["network"].resources("AWS::EC2::Subnet", "Vpc/Nodes")
    zones = [subnet.properties["AvailabilityZone"] for subnet in subnets]
    assert zones == list(loader.load(environment).network.availability_zones)
    assert not any(subnet.properties["MapPublicIpOnLaunch"] for subnet in subnets)


def test_public_subnets_have_room_for_the_load_balancers_that_rules_allow() -> None:
    for environment in ENVIRONMENTS:
        subnets = templates(environment)["network"].resources("AWS::EC2::Subnet", "Vpc/Public")
        sizes = {IPv4Network(subnet.properties["CidrBlock"]).num_addresses for subnet in subnets}
        assert {size - RESERVED_ADDRESSES - GATEWAY_ADDRESSES for size in sizes} == {PUBLIC_ADDRESSES}
        # Elastic Load Balancing user guide: a /27 at least.
        assert min(sizes) >= 32


def test_a_production_zone_has_addresses_for_a_thousand_nodes_with_sixteen_cards() -> None:
    subnets = templates("prod")["network"].resources("AWS::EC2::Subnet", "Vpc/Nodes")
    masks = [int(subnet.properties["CidrBlock"].partition("/")[2]) for subnet in subnets]
    assert all(2 ** (32 - mask) >= 1000 * 16 for mask in masks)


def test_nodes_reach_what_they_need_without_leaving_the_network() -> None:
    endpoints = templates("prod")["network"].resources("AWS::EC2::VPCEndpoint")
    kinds: dict[str, set[str]] = {"Interface": set(), "Gateway": set()}
    for endpoint in endpoints:
        service = endpoint.properties["ServiceName"]
        last = service if isinstance(service, str) else service["Fn::Join"][1][-1]
        kinds[endpoint.properties["VpcEndpointType"]].add(last.removeprefix("com.amazonaws.us-east-2").lstrip("."))
    assert kinds["Gateway"] == {"s3", "dynamodb"}
    assert kinds["Interface"] == {
        "ssm", "ssmmessages", "ec2messages", "logs", "monitoring", "ecr.api", "ecr.dkr", "ecs", "ecs-agent",
        "ecs-telemetry", "sts",
    }  # fmt: skip


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_all_flows_are_recorded(environment: str) -> None:
    flow_log = templates(environment)["network"].resource("AWS::EC2::FlowLog")
    assert flow_log.properties["TrafficType"] == "ALL"
    assert flow_log.properties["ResourceType"] == "VPC"


def test_the_subnets_of_some_zones_are_found_by_the_zones_ids_and_no_other() -> None:
    # No endpoint of a shipped file has a type that one of its zones lacks.
    zones = loader.load("prod").network.availability_zones
    one, *others = zones

    found = platform("prod").network.private_subnets({zones[one]})

    assert [subnet.availability_zone for subnet in found] == [one]
    assert others
