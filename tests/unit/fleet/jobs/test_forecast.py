"""Hours and dollars of a job, by hand."""

from dataclasses import replace

import pytest

from fleet.fleet_spec import MarketKind
from fleet.instances import instance_type
from fleet.jobs.forecast import Basis, Throughput, assumed_throughput, forecast, to_come, usd_so_far
from fleet.prices import price_for
from tests.support.capacity import TRN1
from tests.unit.fleet.jobs.test_rules import JOB

MEASURED = Throughput(50_000.0, Basis.MEASURED, "last hour of run 7")


def test_hours_and_dollars_follow_from_tokens_pace_and_price() -> None:
    found = forecast(JOB, TRN1, MEASURED)
    assert found is not None
    # 1e9 tokens / 50,000 a second = 20,000 s = 5.556 h; 4 nodes x $21.50 = $86 an hour; 5.556 x 86 = $477.78.
    assert found.hours == pytest.approx(5.5556, abs=1e-4)
    assert found.node_hours == pytest.approx(22.2222, abs=1e-4)
    assert found.usd_per_hour == pytest.approx(86.0)
    assert found.usd == pytest.approx(477.78, abs=0.005)
    assert found.throughput.basis is Basis.MEASURED


def test_what_is_to_come_shrinks_with_what_was_done_and_never_goes_below_nothing() -> None:
    half = to_come(JOB, TRN1, MEASURED, tokens_done=5e8)
    # 5e8 / 50,000 = 10,000 s
    assert half.hours == pytest.approx(2.7778, abs=1e-4)
    assert to_come(JOB, TRN1, MEASURED, tokens_done=2e9).usd == 0.0


def test_nothing_is_forecast_that_nobody_can_know() -> None:
    assert forecast(replace(JOB, tokens_wanted=None), TRN1, MEASURED) is None
    with pytest.raises(ValueError, match="job llama-7b: tokens_wanted is not set"):
        to_come(replace(JOB, tokens_wanted=None), TRN1, MEASURED, tokens_done=0)
    nowhere = replace(TRN1, region="eu-nowhere-1")
    found = forecast(JOB, nowhere, MEASURED)
    assert found is not None
    assert (found.usd, found.usd_per_hour, found.price) == (None, None, None)


def test_cost_so_far_is_node_minutes_times_the_price_to_the_cent() -> None:
    price = price_for(instance_type("trn1.32xlarge"), "us-east-2", MarketKind.ON_DEMAND)
    assert price is not None
    # 4 nodes x 125 minutes = 500; 500 / 60 x $21.50 = $179.1667
    assert usd_so_far(500, price) == 179.17


def test_an_assumed_pace_says_that_it_is_one() -> None:
    found = assumed_throughput(instance_type("trn1.32xlarge"), 4, parameters=7e9, utilization_percent=40)
    assert found is not None
    # 4 nodes x 32 cores x 92 TFLOP/s x 40 % = 4.7104e15; / (6 x 7e9) = 112,152 tokens a second
    assert found.tokens_per_second == pytest.approx(112_152.4, abs=0.1)
    assert found.basis is Basis.ASSUMED
    assert found.source == "40 % of the tensor engines' bf16 peak, 6 FLOPs per parameter and token"
    # Grouping cores changes ranks, not the silicon: trn2 has 128 cores of 79 TFLOP/s whatever the grouping.
    trn2 = assumed_throughput(instance_type("trn2.48xlarge"), 1, parameters=1e9, utilization_percent=50)
    assert trn2 is not None
    assert trn2.tokens_per_second == pytest.approx(128 * 79e12 * 0.5 / 6e9)
    assert (
        assumed_throughput(instance_type("trn1.32xlarge"), 1, parameters=1e9, utilization_percent=9, dtype="int8")
        is None
    )


def test_a_pace_at_which_nothing_is_done_is_refused() -> None:
    for pace in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="use a positive, finite number"):
            Throughput(pace, Basis.MEASURED, "")
