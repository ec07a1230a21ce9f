"""Who reaches what: nothing is open to everybody, and no endpoint speaks without TLS outside of a laptop."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

import pytest

from environments import loader
from tests.support.templates import StackTemplate, templates

ENVIRONMENTS = loader.available()


def openings(stack: StackTemplate) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every rule that lets somebody in, wherever it is written."""
    for group in stack.resources("AWS::EC2::SecurityGroup"):
        yield from ((group.path, rule) for rule in group.properties.get("SecurityGroupIngress", ()))
    for rule in stack.resources("AWS::EC2::SecurityGroupIngress"):
        yield rule.path, rule.properties


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_address_outside_of_the_network_is_let_in(environment: str) -> None:
    own = loader.load(environment).network.cidr
    seen = 0
    for stack in templates(environment).values():
        for path, rule in openings(stack):
            seen += 1
            assert "CidrIpv6" not in rule, path
            cidr = rule.get("CidrIp")
            # A group of ours, a list of AWS's, or addresses of the network as text: no token that could be anything.
            assert cidr is None or isinstance(cidr, str) or "Fn::GetAtt" in cidr, (path, cidr)
            if isinstance(cidr, str):
                assert IPv4Network(cidr).subnet_of(own), (path, cidr)
    assert seen >= 3


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_load_balancer_is_on_the_internet_and_no_task_or_node_has_a_public_address(environment: str) -> None:
    for stack in templates(environment).values():
        for balancer in stack.resources("AWS::ElasticLoadBalancingV2::LoadBalancer"):
            assert balancer.properties["Scheme"] == "internal"
        for service in stack.resources("AWS::ECS::Service"):
            network = service.properties.get("NetworkConfiguration", {}).get("AwsvpcConfiguration", {})
            assert network.get("AssignPublicIp", "DISABLED") == "DISABLED"
        for template in stack.resources("AWS::EC2::LaunchTemplate"):
            for card in template.properties["LaunchTemplateData"].get("NetworkInterfaces", ()):
                assert not card.get("AssociatePublicIpAddress", False), template.path


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_listener_speaks_tls_but_a_laptops(environment: str) -> None:
    listeners = [
        listener
        for stack in templates(environment).values()
        for listener in stack.resources("AWS::ElasticLoadBalancingV2::Listener")
    ]
    plain = loader.load(environment).plain_http

    assert plain is (environment == "local")
    assert len(listeners) == len(loader.load(environment).inference_fleets)
    for listener in listeners:
        properties = listener.properties
        assert properties["Protocol"] == ("HTTP" if plain else "HTTPS")
        assert bool(properties.get("Certificates")) is not plain
        assert plain or "TLS13" in properties["SslPolicy"]
