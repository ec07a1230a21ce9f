"""Who reaches an endpoint that says who may call it: the networks of its file, over TLS, and nobody else."""

from typing import Any, Final

import pytest
from cdk_nag import AwsSolutionsChecks

from environments.month_shape import month_shape
from tests.support.clients import PEERED, PUBLIC, called_by, stage, templates
from tests.support.linting import errors
from tests.support.templates import Resource
from tests.support.templates import templates as shipped

EACH = pytest.mark.parametrize("clients", [PEERED, PUBLIC])
BALANCER: Final = "AWS::ElasticLoadBalancingV2::LoadBalancer"
LISTENER: Final = "AWS::ElasticLoadBalancingV2::Listener"
TARGETS: Final = "AWS::ElasticLoadBalancingV2::TargetGroup"
GROUP: Final = "AWS::EC2::SecurityGroup"


def one(clients: dict[str, Any], kind: str, under: str = "inf2-chat-balancer", name: str = "prod") -> Resource:
    return templates(name, **clients)["inference"].resource(kind, under)


def let_in(clients: dict[str, Any]) -> list[tuple[str, int, int]]:
    rules = one(clients, GROUP).properties["SecurityGroupIngress"]
    return [(rule["CidrIp"], rule["FromPort"], rule["ToPort"]) for rule in rules]


def subnets(clients: dict[str, Any]) -> set[str]:
    """The kind of each that the load balancer is in: Public or Nodes."""
    named = one(clients, BALANCER).properties["Subnets"]
    assert len(named) == 3
    return {kind for each in named for kind in ("VpcPublicSubnet", "VpcNodesSubnet") if kind in str(each)}


def test_an_endpoint_is_reached_from_the_vpc_and_each_network_that_it_names() -> None:
    assert let_in(PEERED) == [("10.40.0.0/16", 443, 443), ("10.50.0.0/16", 443, 443)]
    assert one(PEERED, BALANCER).properties["Scheme"] == "internal"
    assert subnets(PEERED) == {"VpcNodesSubnet"}


def test_a_public_endpoint_is_on_the_internet_for_the_networks_that_it_names_and_for_no_other() -> None:
    assert let_in(PUBLIC) == [("203.0.113.0/24", 443, 443), ("198.51.100.7/32", 443, 443)]
    assert one(PUBLIC, BALANCER).properties["Scheme"] == "internet-facing"
    assert subnets(PUBLIC) == {"VpcPublicSubnet"}


@EACH
def test_nothing_else_of_the_environment_is_opened(clients: dict[str, Any]) -> None:
    wanted = {cidr for cidr, _, _ in let_in(clients)} | {"10.40.0.0/16"}
    for stack in templates(**clients).values():
        rules = [rule for group in stack.resources(GROUP) for rule in group.properties.get("SecurityGroupIngress", ())]
        rules += [rule.properties for rule in stack.resources("AWS::EC2::SecurityGroupIngress")]
        assert not [rule for rule in rules if "CidrIpv6" in rule]
        named = {cidr for rule in rules if isinstance(cidr := rule.get("CidrIp"), str)}
        assert named <= (wanted if stack.name.endswith("-inference") else {"10.40.0.0/16"})
        for service in stack.resources("AWS::ECS::Service"):
            assert service.properties["NetworkConfiguration"]["AwsvpcConfiguration"]["AssignPublicIp"] == "DISABLED"


@EACH
def test_tasks_are_reached_by_the_load_balancer_alone_and_it_reaches_nothing_else(clients: dict[str, Any]) -> None:
    inference = templates(**clients)["inference"]
    rule, group = inference.resource("AWS::EC2::SecurityGroupIngress"), one(clients, GROUP)

    assert rule.properties["SourceSecurityGroupId"] == {"Fn::GetAtt": [group.logical_id, "GroupId"]}
    assert "service" in rule.path
    out = [each.properties for each in inference.resources("AWS::EC2::SecurityGroupEgress")]
    of_balancer = [each for each in out if each["GroupId"] == {"Fn::GetAtt": [group.logical_id, "GroupId"]}]
    assert [(each["FromPort"], each["ToPort"]) for each in of_balancer] == [(8000, 8000)]
    assert "DestinationSecurityGroupId" in of_balancer[0]


@EACH
def test_it_speaks_tls_is_logged_and_drops_headers_that_are_none(clients: dict[str, Any]) -> None:
    listener = one(clients, LISTENER).properties
    said = one(clients, BALANCER).properties["LoadBalancerAttributes"]
    attributes = {each["Key"]: each["Value"] for each in said}

    assert (listener["Protocol"], listener["Port"]) == ("HTTPS", 443)
    assert "TLS13" in listener["SslPolicy"]
    assert attributes["access_logs.s3.enabled"] == "true"
    assert attributes["routing.http.drop_invalid_header_fields.enabled"] == "true"


def test_a_public_endpoint_speaks_tls_where_others_need_not() -> None:
    listener = one(PUBLIC, LISTENER, name="local").properties

    assert called_by("local", **PUBLIC).plain_http
    assert (listener["Protocol"], listener["Port"]) == ("HTTPS", 443)


def test_an_endpoint_that_becomes_public_shares_nothing_with_what_it_was() -> None:
    """A target group belongs to one load balancer, and CloudFormation makes the new one before the old one goes."""
    before, after = shipped("prod")["inference"], templates(**PUBLIC)["inference"]
    for kind in (BALANCER, LISTENER, TARGETS):
        assert before.resource(kind).logical_id != after.resource(kind).logical_id
    # It is the same service, and what keeps requests keeps them.
    for kind in ("AWS::ECS::Service", "AWS::AutoScaling::AutoScalingGroup", "AWS::ECS::Cluster"):
        assert before.resource(kind).logical_id == after.resource(kind).logical_id
    (kept,) = {r.logical_id for r in before.resources("AWS::S3::Bucket", "AccessLogs")}
    assert [r.logical_id for r in after.resources("AWS::S3::Bucket", "AccessLogs")] == [kept]


def test_an_endpoint_that_names_more_networks_is_what_it_was() -> None:
    before, after = shipped("prod")["inference"], templates(**PEERED)["inference"]
    for kind in (BALANCER, LISTENER, TARGETS):
        assert before.resource(kind).body == after.resource(kind).body


def test_a_public_load_balancer_waits_for_the_subnets_way_to_the_internet() -> None:
    assert "network" in {each.node.id for each in stage(**PUBLIC).inference.dependencies}


@EACH
def test_security_checks_find_nothing_unacknowledged(clients: dict[str, Any]) -> None:
    platform = stage(**clients)
    violations = AwsSolutionsChecks(platform).validate_scope(platform).violations
    assert [(v.rule_name, [r.resource_logical_id for r in v.violating_resources]) for v in violations] == []


@EACH
@pytest.mark.parametrize("stack", ["network", "inference", "rollout", "observability"])
def test_cloudformation_would_accept_the_template(clients: dict[str, Any], stack: str) -> None:
    text = templates(**clients)[stack].file.read_text(encoding="utf-8")
    assert errors(text) == []


@EACH
def test_public_load_balancers_are_priced_as_many_as_there_are(clients: dict[str, Any]) -> None:
    schemes = [each.properties["Scheme"] for each in templates(**clients)["inference"].resources(BALANCER)]

    assert month_shape(called_by(**clients)).public_balancers == schemes.count("internet-facing")
