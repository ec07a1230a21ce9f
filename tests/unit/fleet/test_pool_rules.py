"""What a pool of the platform's own may be, and how it is launched."""

from dataclasses import replace

import pytest

from fleet.capacity import compile_fleet, diagnose_fleet
from fleet.fleet_spec import Engine, MarketKind
from tests.support.capacity import INF2, TRN1, errors

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
