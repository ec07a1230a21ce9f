"""What the capacity compiler assumes of the network is what the templates build."""

from ipaddress import IPv4Network
from typing import Any

import pytest

from environments import loader
from environments.network import RESERVED_ADDRESSES, SERVICE_ADDRESSES, node_addresses
from fleet.capacity.network_interfaces import Direction, GroupRule, diagnose_peers
from stacks.network import INTERFACE_ENDPOINTS
from tests.support.templates import templates

MOUNT_TARGETS = 1


@pytest.mark.parametrize("environment", loader.available())
def test_subnets_are_as_large_as_was_reckoned_before_there_was_a_template(environment: str) -> None:
    network = loader.load(environment).network
    subnets = templates(environment)["network"].resources("AWS::EC2::Subnet", "Vpc/Nodes")
    sizes = {IPv4Network(subnet.properties["CidrBlock"]).num_addresses for subnet in subnets}
    room = node_addresses(network.cidr, len(network.availability_zones))
    assert sizes == {room + RESERVED_ADDRESSES + SERVICE_ADDRESSES}


def test_the_addresses_of_services_are_counted() -> None:
    assert len(INTERFACE_ENDPOINTS) + MOUNT_TARGETS == SERVICE_ADDRESSES


def rules(environment: str) -> tuple[str, list[GroupRule]]:
    """The EFA group's logical id, and every rule that it has: its own and those that are resources by themselves."""
    network = templates(environment)["network"]
    group = network.resource("AWS::EC2::SecurityGroup", "EfaGroup")
    found = [
        *((Direction.IN, rule) for rule in group.properties.get("SecurityGroupIngress", [])),
        *((Direction.OUT, rule) for rule in group.properties.get("SecurityGroupEgress", [])),
        *((Direction.IN, r.properties) for r in network.resources("AWS::EC2::SecurityGroupIngress", "EfaGroup")),
        *((Direction.OUT, r.properties) for r in network.resources("AWS::EC2::SecurityGroupEgress", "EfaSelfEgress")),
    ]
    return group.logical_id, [GroupRule(direction, rule["IpProtocol"], peer(rule)) for direction, rule in found]


def peer(rule: dict[str, Any]) -> str:
    group = rule.get("SourceSecurityGroupId") or rule.get("DestinationSecurityGroupId")
    return str(group["Fn::GetAtt"][0]) if group else str(rule["CidrIp"])


@pytest.mark.parametrize("environment", loader.available())
def test_nodes_with_peers_may_send_each_other_everything(environment: str) -> None:
    group, found = rules(environment)
    assert list(diagnose_peers(group, found)) == []
