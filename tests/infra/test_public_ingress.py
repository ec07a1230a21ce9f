"""Who reaches what: nobody whom the file does not name, and no endpoint speaks without TLS outside of a laptop."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

import pytest

from environments import loader
from environments.model import Environment
from tests.support import clients
from tests.support.clients import PEERED, PUBLIC, called_by
from tests.support.templates import StackTemplate, templates

Deployed = tuple[Environment, Mapping[str, StackTemplate]]
NAMING = {"prod, peered": PEERED, "prod, public": PUBLIC}


@pytest.fixture(params=[*loader.available(), *NAMING])
def deployed(request: pytest.FixtureRequest) -> Deployed:
    """Each environment that is shipped, and production where the endpoint names its clients."""
    who = NAMING.get(request.param)
    if who is None:
        return loader.load(request.param), templates(request.param)
    return called_by(**who), clients.templates(**who)


def openings(stack: StackTemplate) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every rule that lets somebody in, wherever it is written."""
    for group in stack.resources("AWS::EC2::SecurityGroup"):
        yield from ((group.path, rule) for rule in group.properties.get("SecurityGroupIngress", ()))
    for rule in stack.resources("AWS::EC2::SecurityGroupIngress"):
        yield rule.path, rule.properties


def test_no_address_outside_of_the_network_is_let_in_but_what_an_endpoint_names(deployed: Deployed) -> None:
    environment, stacks = deployed
    own = environment.network.cidr
    named = {cidr for fleet in environment.inference_fleets for cidr in fleet.endpoint.clients.cidrs}
    seen = 0
    for stack_id, stack in stacks.items():
        for path, rule in openings(stack):
            seen += 1
            assert "CidrIpv6" not in rule, path
            cidr = rule.get("CidrIp")
            # A group of ours, a list of AWS's, or addresses of the network as text: no token that could be anything.
            assert cidr is None or isinstance(cidr, str) or "Fn::GetAtt" in cidr, (path, cidr)
            if isinstance(cidr, str):
                is_named = stack_id == "inference" and IPv4Network(cidr) in named
                assert IPv4Network(cidr).subnet_of(own) or is_named, (path, cidr)
    assert seen >= 3


def test_only_a_public_endpoint_is_on_the_internet_and_no_task_or_node_is(deployed: Deployed) -> None:
    environment, stacks = deployed
    public = {fleet.name for fleet in environment.inference_fleets if fleet.endpoint.clients.public}
    for stack in stacks.values():
        for balancer in stack.resources("AWS::ElasticLoadBalancingV2::LoadBalancer"):
            is_public = any(f"/{name}-balancer/" in balancer.path for name in public)
            assert balancer.properties["Scheme"] == ("internet-facing" if is_public else "internal")
        for service in stack.resources("AWS::ECS::Service"):
            network = service.properties.get("NetworkConfiguration", {}).get("AwsvpcConfiguration", {})
            assert network.get("AssignPublicIp", "DISABLED") == "DISABLED"
        for template in stack.resources("AWS::EC2::LaunchTemplate"):
            for card in template.properties["LaunchTemplateData"].get("NetworkInterfaces", ()):
                assert not card.get("AssociatePublicIpAddress", False), template.path


def test_every_listener_speaks_tls_but_a_laptops(deployed: Deployed) -> None:
    environment, stacks = deployed
    listeners = [
        listener for stack in stacks.values() for listener in stack.resources("AWS::ElasticLoadBalancingV2::Listener")
    ]
    plain = environment.plain_http

    assert plain is (environment.name == "local")
    assert len(listeners) == len(environment.inference_fleets)
    for listener in listeners:
        properties = listener.properties
        assert properties["Protocol"] == ("HTTP" if plain else "HTTPS")
        assert bool(properties.get("Certificates")) is not plain
        assert plain or "TLS13" in properties["SslPolicy"]
