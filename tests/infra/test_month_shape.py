"""What `fleet plan cost` prices is what the templates hold: a resource that it forgets fails here."""

from pathlib import Path

import pytest
from aws_cdk.assertions import Annotations, Match

from environments import loader
from environments.month_shape import month_shape
from fleet.fleet_spec import Purpose
from planning.month.services import ROOT_VOLUME_GB
from stacks.constructs.efa_launch_template import ROOT_VOLUME_GIB
from tests.support.templates import platform, stage_of
from tests.support.watching import ENVIRONMENTS, Json, Watched, watched


@pytest.fixture(params=ENVIRONMENTS)
def environment(request: pytest.FixtureRequest) -> Watched:
    return watched(request.param)


def resources(of: Watched, kind: str) -> list[Json]:
    return [found for stack in of.templates for found in of.resources(stack, kind)]


def test_every_billed_resource_is_counted(environment: Watched) -> None:
    shape = month_shape(environment.environment)
    endpoints = resources(environment, "AWS::EC2::VPCEndpoint")
    interface = [endpoint for endpoint in endpoints if endpoint["VpcEndpointType"] == "Interface"]

    assert len(resources(environment, "AWS::EC2::NatGateway")) == shape.nat_gateways
    assert len(interface) == shape.interface_endpoints
    assert {len(endpoint["SubnetIds"]) for endpoint in interface} == {shape.zones}
    balancers = resources(environment, "AWS::ElasticLoadBalancingV2::LoadBalancer")
    assert len(balancers) == sum(fleet.purpose is Purpose.INFERENCE for fleet in shape.fleets)
    assert [each["Scheme"] for each in balancers].count("internet-facing") == shape.public_balancers
    assert len(resources(environment, "AWS::Lambda::Function")) == len(shape.functions)
    assert len(resources(environment, "AWS::DynamoDB::Table")) == shape.tables
    assert len(resources(environment, "AWS::CloudWatch::Dashboard")) == shape.dashboards
    assert len(resources(environment, "AWS::CloudWatch::CompositeAlarm")) == shape.composite_alarms
    assert ROOT_VOLUME_GIB == ROOT_VOLUME_GB


def test_every_metric_that_an_alarm_looks_at_is_counted(environment: Watched) -> None:
    looked_at = 0
    for alarm in resources(environment, "AWS::CloudWatch::Alarm"):
        looked_at += sum("MetricStat" in entry for entry in alarm.get("Metrics", [])) or 1
    for policy in resources(environment, "AWS::AutoScaling::ScalingPolicy"):
        # Its alarm is Auto Scaling's own.
        looked_at += policy["PolicyType"] == "TargetTrackingScaling"

    assert looked_at == month_shape(environment.environment).alarm_metrics


def test_synthesis_warns_of_an_environment_over_its_cloudwatch_budget(tmp_path: Path) -> None:
    text = (loader.FOLDER / "prod.yaml").read_text(encoding="utf-8")
    file = tmp_path / "prod.yaml"
    file.write_text(text.replace("cloudwatch_usd_per_month: 150", "cloudwatch_usd_per_month: 20"), encoding="utf-8")
    poor = stage_of(loader.load_file(file))
    warning = Match.string_like_regexp(r"CloudWatch is expected to cost \$1\d\d\.\d\d a month")

    Annotations.from_stack(poor.observability).has_warning("*", warning)
    Annotations.from_stack(platform("prod").observability).has_no_warning("*", warning)
