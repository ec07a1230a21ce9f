"""An endpoint that goes to the internet and comes back, as deployed to the embedded AWS."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from environments.model import Environment
from fleet import naming
from local.deployment import ENVIRONMENT
from tests.support import doctored
from tests.support.clients import PEERED, PUBLIC, called_by
from tests.support.embedded_client import client
from tests.support.needs import needs

FLEET = "inf2-chat"
VPC = "10.10.0.0/16"

pytestmark = needs("the CDK command line")


def environment(**clients: Any) -> Environment:
    """The local environment with its endpoint and nothing else."""
    whole = called_by(ENVIRONMENT, **clients)
    return whole.model_copy(update={"fleets": whole.inference_fleets, "budgets": None})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("public")
    with doctored.embedded_account(made):
        yield made


def reached() -> tuple[str, list[str], str, str]:
    """Scheme, networks that are let in, the only load balancer and the target group that the service's tasks are in."""
    elb = client("elbv2")
    (balancer,) = elb.describe_load_balancers()["LoadBalancers"]
    (group,) = client("ec2").describe_security_groups(GroupIds=balancer["SecurityGroups"])["SecurityGroups"]
    cidrs = [each["CidrIp"] for rule in group["IpPermissions"] for each in rule.get("IpRanges", ())]
    (listener,) = elb.describe_listeners(LoadBalancerArn=balancer["LoadBalancerArn"])["Listeners"]
    assert (listener["Protocol"], listener["Port"]) == ("HTTPS", 443)
    (targets,) = listener["DefaultActions"]
    cluster = naming.cluster_name(ENVIRONMENT, FLEET)
    (name,) = client("ecs").list_services(cluster=cluster)["serviceArns"]
    (service,) = client("ecs").describe_services(cluster=cluster, services=[name])["services"]
    (serves,) = service["loadBalancers"]
    assert serves["targetGroupArn"] == targets["TargetGroupArn"]
    place = client("ssm").get_parameter(Name=naming.rollout_place_parameter(ENVIRONMENT, FLEET))["Parameter"]["Value"]
    told = json.loads(place)
    # A rollout shifts requests in a rule of this listener, between these targets and the candidate's.
    assert told["stable"]["target_group"] == targets["TargetGroupArn"]
    assert told["rule"] in [
        each["RuleArn"] for each in elb.describe_rules(ListenerArn=listener["ListenerArn"])["Rules"]
    ]
    return balancer["Scheme"], cidrs, balancer["LoadBalancerArn"], targets["TargetGroupArn"]


def test_an_endpoint_goes_to_the_internet_and_comes_back(folder: Path) -> None:
    found = []
    for number, clients in enumerate((PEERED, PUBLIC, {})):
        each = folder / str(number)
        each.mkdir()
        doctored.deploy(environment(**clients), each)
        found.append(reached())

    assert [(scheme, sorted(cidrs)) for scheme, cidrs, _, _ in found] == [
        ("internal", [VPC, "10.40.8.0/24", "10.50.0.0/16"]),
        ("internet-facing", ["198.51.100.7/32", "203.0.113.0/24"]),
        ("internal", [VPC]),
    ]
    assert len({balancer for _, _, balancer, _ in found}) == len({targets for _, _, _, targets in found}) == 3
