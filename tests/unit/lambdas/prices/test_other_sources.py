"""Spot, Capacity Blocks and Savings Plans as they were recorded."""

from typing import Any

import pytest

from lambdas.prices.blocks import CapacityBlocks, usd_per_hour
from lambdas.prices.savings_plans import SavingsPlans
from lambdas.prices.source import NotReadError
from lambdas.prices.spot import Spot
from tests.support.aws_fakes import client_error
from tests.support.client_shapes import shaped
from tests.support.price_lists import Ec2, Plans, block, plan_rate, question, spot

INF2, TRN1, TRN2 = "inf2.48xlarge", "trn1.32xlarge", "trn2.48xlarge"


def test_spot_is_kept_by_zone_and_the_dearest_stands_for_the_region() -> None:
    pages = [[spot(INF2, "a", "1.2981", 4), spot(INF2, "b", "1.9")], [spot(INF2, "a", "1.5", 5)]]
    reading = Spot(shaped("ec2", Ec2(pages))).read(question(INF2))

    assert {record.key: record.price.usd_per_hour for record in reading.found} == {
        "us-east-2/inf2.48xlarge/spot": 1.9,
        "us-east-2/inf2.48xlarge/spot/use2-az1": 1.5,
        "us-east-2/inf2.48xlarge/spot/use2-az2": 1.9,
    }
    assert {record.price.region for record in reading.found} == {"us-east-2 (use2-az1)", "us-east-2 (use2-az2)"}


def test_a_type_without_a_spot_price_is_absent() -> None:
    reading = Spot(shaped("ec2", Ec2([[spot(INF2, "a", "1.3")]]))).read(question(INF2, TRN1))

    assert reading.absent == ((TRN1, "EC2 shows no Spot price of it in us-east-2"),)


def test_a_spot_price_of_zero_is_none() -> None:
    assert Spot(shaped("ec2", Ec2([[spot(INF2, "a", "0.0")]]))).read(question(INF2)).found == ()


def test_a_spot_price_that_cannot_be_read_takes_its_type_only() -> None:
    broken = {key: value for key, value in spot(INF2, "b", "1.2").items() if key != "SpotPrice"}
    reading = Spot(shaped("ec2", Ec2([[spot(INF2, "a", "1.3"), broken, spot(TRN1, "c", "2.15")]]))).read(
        question(INF2, TRN1)
    )

    assert {record.instance_type for record in reading.found} == {TRN1}
    assert [name for name, _ in reading.problems] == [INF2]


def test_half_a_history_is_not_used() -> None:
    class Cut(Ec2):
        def describe_spot_price_history(self, **request: Any) -> dict[str, Any]:
            if "NextToken" in request:
                raise client_error("RequestLimitExceeded", "DescribeSpotPriceHistory")
            return super().describe_spot_price_history(**request)

    reading = Spot(shaped("ec2", Cut([[spot(INF2, "a", "1.2981")], [spot(INF2, "b", "1.9")]]))).read(question(INF2))

    assert reading.found == ()
    assert "RequestLimitExceeded" in str(reading.reason(INF2))


def test_a_blocks_fee_is_by_instance_and_hour() -> None:
    # Half an hour beyond whole hours, four instances: 2,325.024 / 4 / 16.5.
    assert usd_per_hour(block(TRN2, "2360.2128", 4, 16, 30)) == pytest.approx(35.7608)


def test_the_dearest_offer_counts_and_free_ones_do_not() -> None:
    offers = [block(TRN2, "858.2592"), block(TRN2, "0.00"), block(TRN2, "900.00")]
    (record,) = CapacityBlocks(shaped("ec2", Ec2(blocks={TRN2: offers}))).read(question(TRN2)).found

    assert record.price.usd_per_hour == 37.5
    assert record.key == "us-east-2/trn2.48xlarge/capacity-block"
    assert "the dearest of 2 offers" in record.price.provenance


def test_without_an_offer_there_is_no_price_and_a_reason() -> None:
    reading = CapacityBlocks(shaped("ec2", Ec2())).read(question(TRN2, INF2))

    # No region sells blocks of inf2, so nobody asks.
    assert reading.absent == ((TRN2, "EC2 offers no Capacity Block of it in us-east-2 now"),)


@pytest.mark.parametrize(
    "changed",
    [{"CurrencyCode": "CNY"}, {"InstanceCount": 0}, {"UpfrontFee": "soon"}, {"CapacityBlockDurationHours": 0}],
)
def test_an_offer_that_cannot_be_read_is_a_problem(changed: dict[str, Any]) -> None:
    offer = block(TRN2, "858.26") | changed
    with pytest.raises(NotReadError):
        usd_per_hour(offer)
    assert CapacityBlocks(shaped("ec2", Ec2(blocks={TRN2: [offer]}))).read(question(TRN2)).problems[0][0] == TRN2


def test_savings_plans_are_kept_by_plan_and_years_and_unused_hours_are_none() -> None:
    pages = [
        [plan_rate(INF2, "9.1"), plan_rate(INF2, "12.98127", usage="UnusedBox")],
        [plan_rate(INF2, "6.2", seconds=94_608_000), plan_rate(INF2, "0.0", seconds=94_608_000)],
    ]
    reading = SavingsPlans(shaped("savingsplans", Plans(pages))).read(question(INF2, TRN1))

    assert {record.detail: record.price.usd_per_hour for record in reading.found} == {
        "Compute, 1 y, No Upfront": 9.1,
        "Compute, 3 y, No Upfront": 6.2,
    }
    assert reading.absent == ((TRN1, "no Savings Plan covers it in us-east-2"),)


def test_a_rate_that_cannot_be_read_is_a_problem() -> None:
    reading = SavingsPlans(shaped("savingsplans", Plans([[plan_rate(INF2, "ask us")]]))).read(question(INF2))

    assert (reading.found, [name for name, _ in reading.problems]) == ((), [INF2])
