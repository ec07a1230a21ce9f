"""Sizes, prices and alarms of endpoints that SageMaker hosts."""

from dataclasses import replace
from datetime import date

import boto3
import pytest

from environments.alarms import alarm_settings, environment_alarms
from environments.month_shape import month_shape
from fleet.alarms import AlarmSpec, MathRef, TreatMissingData
from fleet.hosting.sizes import hosted_type, sizes
from fleet.hosting.surcharge import surcharge
from fleet.instances import Price, PriceKind, instance_type
from planning.month.bill import month_of
from planning.month.line import Group
from tests.support.hosted_environment import FLEET, hosted

TODAY = date(2026, 11, 22)
NEW = Price(PriceKind.SAGEMAKER_HOSTING, 15.6, "us-east-2", "2026-11-20", "AWS price list", "a refresh")


def test_the_sizes_are_those_of_sagemakers_own_api() -> None:
    model = boto3.client("sagemaker", region_name="us-east-2").meta.service_model
    offered = set(model.shape_for("ProductionVariantInstanceType").metadata["enum"])

    assert {hosted_type(each) for each in sizes()} == {each for each in offered if each.startswith("ml.inf2.")}
    assert hosted_type("trn2.48xlarge") is None


@pytest.mark.parametrize(("size", "percent"), [("inf2.xlarge", 30.6), ("inf2.8xlarge", 19.9), ("inf2.48xlarge", 20.0)])
def test_the_difference_is_of_two_prices_of_one_region(size: str, percent: float) -> None:
    found = surcharge(instance_type(size), "us-east-1")

    assert found.percent == pytest.approx(percent, abs=0.05)
    assert found.elsewhere is None


def test_a_price_of_another_region_is_no_price() -> None:
    found = surcharge(instance_type("inf2.48xlarge"), "us-east-2")

    assert (found.hosted, found.usd_per_hour, found.percent) == (None, None, None)
    assert found.elsewhere is not None
    assert found.elsewhere[0].region == "us-east-1"


def test_a_refreshed_price_is_the_regions_own() -> None:
    found = surcharge(instance_type("inf2.48xlarge"), "us-east-2", refreshed=[NEW])

    assert found.hosted == NEW
    assert "costs $15.60 per node-hour, sagemaker-hosting" in found.text(2, TODAY)
    older = replace(NEW, as_of="2026-01-01")
    assert "STALE" in surcharge(instance_type("inf2.48xlarge"), "us-east-2", refreshed=[older]).text(2, TODAY)


def test_a_month_counts_sagemakers_price_and_says_the_difference() -> None:
    known = month_of(month_shape(hosted(), {"inf2.48xlarge": [NEW]}), today=TODAY)

    (line,) = [each for each in known.lines if each.group is Group.CAPACITY]
    assert (line.what, line.unit_usd) == (FLEET, 15.6)
    assert (line.usd.low, line.usd.expected, line.usd.high) == pytest.approx(
        (2 * 730 * 15.6, 4 * 730 * 15.6, 8 * 730 * 15.6)
    )
    assert any(f"{FLEET}: ml.inf2.48xlarge costs" in each and "more an instance-hour" in each for each in known.notes)


def test_a_month_without_a_price_leaves_the_instances_out_and_says_so() -> None:
    unknown = month_of(month_shape(hosted()), today=TODAY)

    assert [each for each in unknown.lines if each.group is Group.CAPACITY] == []
    (missing,) = [each for each in unknown.not_priced if FLEET in each.what]
    assert "is not known" in missing.why


def test_its_alarms_are_those_of_every_endpoint_and_no_others() -> None:
    found = {spec.key: spec for spec in environment_alarms(hosted(), {})[FLEET]}

    assert found.keys() == {"EndpointErrors", "EndpointLatencyP99", "NoHealthyTargets"}
    specs = [spec for spec in found.values() if isinstance(spec, AlarmSpec)]
    for spec in specs:
        refs = [ref for _, ref in spec.metric.queries] if isinstance(spec.metric, MathRef) else [spec.metric]
        assert {dict(ref.dimensions)["VariantName"] for ref in refs} == {"stable"}
        assert {dict(ref.dimensions)["EndpointName"] for ref in refs} == {f"neuron-fleet-hosted-{FLEET}"}
    # An endpoint without an instance says nothing at all.
    gone = found["NoHealthyTargets"]
    assert isinstance(gone, AlarmSpec)
    assert gone.silence is TreatMissingData.BREACHING
    slow = found["EndpointLatencyP99"]
    assert isinstance(slow, AlarmSpec)
    assert isinstance(slow.metric, MathRef)
    # SageMaker's microseconds against the file's seconds.
    assert "latency / 1000000" in slow.metric.expression
    assert slow.threshold == alarm_settings(hosted(), hosted().hosted_fleets[0]).thresholds.latency_p99_seconds
