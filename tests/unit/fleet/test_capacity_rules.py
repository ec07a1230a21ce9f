"""Rules about dates and software, at both sides of where they change their answer.

And what a pool of the platform's own may be, and how it is launched.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from fleet.capacity import compile_fleet, diagnose_fleet
from fleet.fleet_spec import Engine, MarketKind, Reserved, Software
from fleet.neuron_software import Framework
from tests.support.capacity import BLOCK, INF2, TRN1, errors


def test_what_has_ended_is_a_warning_for_a_date_and_nothing_without_one() -> None:
    spec = replace(TRN1, **BLOCK)
    # The block ends on 2026-12-18 at 11:30.
    for day, code in {17: "capacity-block-ends-soon", 18: "capacity-block-ended", 16: None}.items():
        found = diagnose_fleet(spec, now=datetime(2026, 12, day, 12, 0, tzinfo=UTC))
        assert [diagnostic.code for diagnostic in found] == ([code] if code else [])
        assert not any(diagnostic.is_error for diagnostic in found)
    assert diagnose_fleet(spec) == ()
    assert compile_fleet(spec, now=datetime(2027, 1, 1, tzinfo=UTC)).reservation_id


@pytest.mark.parametrize(
    ("starts", "sold"),
    [
        # The block ends on 2026-12-18 at 11:30.
        ((12, 17, 11, 30), True),  # a day
        ((12, 18, 3, 0), True),  # the rest of a day
        ((12, 4, 11, 30), True),  # 14 days
        ((12, 3, 11, 30), False),  # 15 days
        ((12, 3, 20, 0), True),  # 14 days and 15.5 hours: bought as 14, starting at once
        ((11, 27, 11, 30), True),  # 21 days
        ((11, 26, 11, 30), False),  # 22 days
        ((6, 19, 11, 30), True),  # 182 days: 11 of June, 31, 31, 30, 31, 30, 18 of December
        ((6, 12, 11, 30), False),  # 189 days
    ],
)
def test_a_block_lasts_days_or_weeks(starts: tuple[int, int, int, int], sold: bool) -> None:
    month, day, hour, minute = starts
    reserved = replace(BLOCK["reserved"], starts_at=datetime(2026, month, day, hour, minute, tzinfo=UTC))
    refused = "capacity-block-duration" in errors(replace(TRN1, **{**BLOCK, "reserved": reserved}))
    assert refused == (not sold)


def test_dates_at_the_ends_of_the_calendar_are_judged_too() -> None:
    for year, month, day in ((1, 1, 1), (9999, 12, 31)):
        for hours in (-14, 14):
            moment = datetime(year, month, day, tzinfo=timezone(timedelta(hours=hours)))
            reserved = Reserved("cr-11112222", starts_at=moment, ends_at=moment)
            for market in MarketKind:
                diagnose_fleet(replace(TRN1, market=market, reserved=reserved), now=datetime.now(UTC))


@pytest.mark.parametrize(
    ("framework", "sdk", "image", "instance_type", "code"),
    [
        (Framework.NXD_INFERENCE, "2.28", "", "inf2.48xlarge", None),
        (Framework.NXD_INFERENCE, "2.28.1", "", "inf2.48xlarge", None),
        (Framework.NXD_INFERENCE, "2.29", "", "inf2.48xlarge", "sdk-dropped-type"),
        (Framework.NXD_INFERENCE, None, "chat:1-sdk2.31.0-ubuntu24.04", "inf2.8xlarge", "sdk-dropped-type"),
        (Framework.NXD_INFERENCE, None, "chat:1", "inf2.8xlarge", None),
        (Framework.NXD_INFERENCE, "2.33", "", "trn2.48xlarge", None),
        (Framework.NXD_INFERENCE, "2.34", "", "trn2.48xlarge", "framework-ended"),
        (Framework.VLLM, None, "", "inf2.48xlarge", "vllm-needs-trn2"),
        (Framework.VLLM, "2.32", "", "trn2.48xlarge", None),
        (Framework.NXD_TRAINING, "2.31", "", "trn1.32xlarge", None),
        (Framework.NXD_TRAINING, "2.32", "", "trn1.32xlarge", "framework-ended"),
        (None, "2.20", "", "trn2.48xlarge", "sdk-before-type"),
        (None, "9" * 5000, "x:sdk" + "9" * 5000, "trn2.48xlarge", None),
    ],
)
def test_an_sdk_runs_the_frameworks_that_it_still_has_on_the_chips_that_it_still_knows(
    framework: Framework | None, sdk: str | None, image: str, instance_type: str, code: str | None
) -> None:
    software = Software(neuron_sdk=sdk, framework=framework, container_image=image)
    spec = replace(TRN1, instance_type=instance_type, zone_ids=("use2-az1", "use2-az3"), software=software)
    assert list(errors(spec)) == ([code] if code else [])


SPOT = replace(TRN1, engine=Engine.POOL, market=MarketKind.SPOT)


def test_a_pool_trains_on_spot_and_batch_does_not() -> None:
    assert errors(SPOT) == {}
    assert errors(replace(SPOT, engine=Engine.BATCH)) == {"spot-multi-node": "market.kind"}


def test_a_template_of_a_spot_pool_leaves_the_market_to_its_group() -> None:
    assert compile_fleet(SPOT).market_type is None
    # Spot is what it is paid as, all the same.
    price = compile_fleet(SPOT).price
    assert price is None or price.kind.value == "spot"
    assert compile_fleet(replace(INF2, market=MarketKind.SPOT)).market_type == "spot"


def test_a_spot_pool_is_placed_and_wired_as_on_demand_nodes_are() -> None:
    plan = compile_fleet(SPOT)
    assert (plan.uses_efa, plan.placement_group, len(plan.network_interfaces)) == (True, True, 8)


@pytest.mark.parametrize(("nodes", "refused"), [(100, False), (101, True)])
def test_a_pool_is_started_at_once(nodes: int, refused: bool) -> None:
    assert ("pool-too-large" in errors(replace(SPOT, nodes=nodes))) == refused
    assert "pool-too-large" not in errors(replace(TRN1, nodes=nodes))


def test_alternatives_of_the_same_shape_are_tried_and_others_refused() -> None:
    alike = diagnose_fleet(replace(SPOT, alternative_types=("trn1n.32xlarge",)))
    assert not [each for each in alike if each.path.startswith("alternative_types")]
    assert errors(replace(SPOT, alternative_types=("trn2.48xlarge",))) == {
        "alternative-of-another-shape": "alternative_types[0]"
    }


def test_an_alternative_is_offered_in_the_pools_own_zone() -> None:
    virginia = replace(SPOT, region="us-east-1", alternative_types=("trn1n.32xlarge",))
    elsewhere = replace(virginia, zone_ids=("use1-az4",), fallback_zone_ids=("use1-az6",))
    assert errors(elsewhere) == {"alternative-not-in-zone": "alternative_types[0]"}
    assert errors(replace(elsewhere, zone_ids=("use1-az6",))) == {}
