"""What an offer costs by the core, and what a block was worth."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fleet.blocks.offering import ranked
from fleet.blocks.post_mortem import NodeMinutes, post_mortem
from tests.support import block_world
from tests.support.block_world import BEGIN

# Two trn2.48xlarge for 24 hours at 1,700 USD: 1700 / 2 / 24 = 35.4167 USD an instance-hour, / 128 cores = 0.27669.
TRN2 = block_world.request(BEGIN, 24).offering
# One trn1.32xlarge for 24 hours at 228.768 USD: 9.532 USD an instance-hour, / 32 cores = 0.29788.
TRN1 = replace(TRN2, offering_id="cbo-2", instance_type="trn1.32xlarge", instances=1, fee_usd=228.768)


def test_the_price_by_core_hour_compares_types() -> None:
    assert TRN2.usd_per_instance_hour == pytest.approx(35.41667)
    assert TRN2.usd_per_core_hour == pytest.approx(0.276693, abs=1e-6)
    assert TRN1.usd_per_core_hour == pytest.approx(0.297875)


def test_the_cheapest_core_comes_first_and_of_two_equals_the_earlier() -> None:
    later = replace(TRN2, offering_id="cbo-3", start=TRN2.start + timedelta(hours=1), end=TRN2.end + timedelta(hours=1))

    assert ranked([TRN1, later, TRN2]) == (TRN2, later, TRN1)


def test_the_account_keeps_what_was_not_measured_apart_from_what_was_wasted() -> None:
    # 2 x 1440 = 2880 instance-minutes, of which 1000 + 800 = 1800 were measured: 62.5 %. Jobs ran in 600 + 400.
    nodes = [NodeMinutes("i-1", 1000, 600, 40.0, 120.0, 1000.0), NodeMinutes("i-2", 800, 400, 20.0, 200.0, 800.0)]

    account = post_mortem([TRN2], nodes)

    assert account.measured_percent == pytest.approx(62.5)
    assert account.running_percent == pytest.approx(100 * 1000 / 2880)
    # (40 x 600 + 20 x 400) / 1000
    assert account.utilization_percent == pytest.approx(32.0)
    # 320 of the 1,800 dollars that agents counted for 1800 minutes; those were paid with 1700 x 62.5 % = 1062.5.
    assert account.wasted_usd == pytest.approx(320 / 1800 * 1062.5)
    # 1080 minutes at 35.41667 / 60
    assert account.unmeasured_usd == pytest.approx(637.5)


def test_without_a_measured_minute_utilization_is_unknown_and_nothing_is_called_wasted() -> None:
    account = post_mortem([TRN2], [])

    assert account.utilization_percent is None
    assert account.wasted_usd == 0
    assert account.unmeasured_usd == pytest.approx(1700.0)


def test_an_extension_is_paid_for_at_its_own_price() -> None:
    # 24 h for 1,700 USD and 12 h more for 1,180: 2 x 2160 = 4320 instance-minutes for 2,880 USD, 40 USD an hour.
    longer = replace(TRN2, start=TRN2.end, end=TRN2.end + timedelta(hours=12), fee_usd=1180.0)

    account = post_mortem([TRN2, longer], [NodeMinutes("i-1", 2160, 2160, 40.0, 0.0, 1440.0)])

    assert account.fee_usd == pytest.approx(2880.0)
    assert account.usd_per_instance_hour == pytest.approx(40.0)
    assert account.measured_percent == pytest.approx(50.0)
    # The other node's 2160 minutes at 40 / 60
    assert account.unmeasured_usd == pytest.approx(1440.0)


def test_a_block_that_lay_idle_wasted_what_was_paid_for_it_and_not_what_it_would_cost_today() -> None:
    # Both nodes did nothing for 24 hours, and the published price is twice what was paid.
    idle = [NodeMinutes(node, 1440, 0, None, 1700.0, 1700.0) for node in ("i-1", "i-2")]

    assert post_mortem([TRN2], idle).wasted_usd == pytest.approx(1700.0)


def test_without_a_fee_waste_is_counted_as_the_agents_count_it() -> None:
    elsewhere = replace(TRN2, fee_usd=0.0)

    assert post_mortem([elsewhere], [NodeMinutes("i-1", 60, 0, None, 30.0, 36.0)]).wasted_usd == 30.0


def test_what_agents_without_a_price_measured_is_not_called_well_used() -> None:
    assert post_mortem([TRN2], [NodeMinutes("i-1", 1440, 0, None, 0.0, 0.0)]).wasted_usd is None
