"""From a fleet as asked for to a launch plan, or to the reason why not."""

from dataclasses import replace
from typing import Any

import pytest

from fleet.capacity import FleetRefusedError, InterfaceType, compile_fleet
from fleet.fleet_spec import EfaLayout, FleetSpec, MarketKind, Reserved
from fleet.regions import zone_id_prefix
from tests.support.capacity import BLOCK, INF2, TRN1, errors


@pytest.mark.parametrize(
    ("instance_type", "region", "zone_id", "interfaces"),
    [
        ("trn1.32xlarge", "us-east-2", "use2-az3", 8),
        ("trn1n.32xlarge", "us-east-2", "use2-az3", 16),
        ("trn2.48xlarge", "us-east-2", "use2-az1", 16),
        ("trn2u.48xlarge", "ap-south-2", "aps2-az1", 16),
        ("trn2.3xlarge", "ap-southeast-4", "apse4-az3", 1),
    ],
)
def test_every_card_has_one_efa_interface_and_the_first_is_the_primary(
    instance_type: str, region: str, zone_id: str, interfaces: int
) -> None:
    plan = compile_fleet(replace(TRN1, instance_type=instance_type, region=region, zone_ids=(zone_id,)))
    assert [nic.network_card for nic in plan.network_interfaces] == list(range(interfaces))
    assert [nic.device for nic in plan.network_interfaces] == [0] + [1] * (interfaces - 1)
    assert {nic.kind for nic in plan.network_interfaces} == {InterfaceType.EFA}


def test_one_address_serves_a_node_whose_cards_carry_efa_only() -> None:
    plan = compile_fleet(replace(TRN1, efa_layout=EfaLayout.EFA_ONLY))
    cards = [(nic.network_card, nic.device, nic.kind.value) for nic in plan.network_interfaces]
    assert cards[:3] == [(0, 0, "interface"), (0, 1, "efa-only"), (1, 0, "efa-only")]
    assert len(cards) == 9
    assert plan.addresses_per_node == 1
    assert compile_fleet(TRN1).addresses_per_node == 8


def test_efa_is_left_out_where_it_is_not_there_not_wanted_or_not_useful() -> None:
    for spec in (INF2, replace(TRN1, efa=False), replace(TRN1, nodes=1), replace(TRN1, instance_type="trn1.2xlarge")):
        plan = compile_fleet(spec)
        assert not plan.uses_efa
        assert [(nic.network_card, nic.device, nic.kind) for nic in plan.network_interfaces] == [(0, 0, "interface")]


@pytest.mark.parametrize(
    ("changes", "market_type", "reservation_id", "creates", "grouped"),
    [
        ({}, None, None, False, True),
        ({"market": MarketKind.RESERVATION}, None, None, True, True),
        ({"market": MarketKind.RESERVATION, "reserved": Reserved("cr-11112222")}, None, "cr-11112222", False, False),
        (BLOCK, "capacity-block", "cr-0a1b2c3d4e5f60718", False, False),
    ],
)
def test_each_market_has_its_options_reservation_and_placement(
    changes: dict[str, Any], market_type: str | None, reservation_id: str | None, creates: bool, grouped: bool
) -> None:
    plan = compile_fleet(replace(TRN1, **changes))
    assert (plan.market_type, plan.reservation_id) == (market_type, reservation_id)
    assert (plan.creates_reservation, plan.placement_group) == (creates, grouped)


def test_inference_may_use_spot_and_is_never_in_a_placement_group() -> None:
    plan = compile_fleet(replace(INF2, market=MarketKind.SPOT))
    assert plan.market_type == "spot"
    assert not plan.placement_group


def test_an_inference_fleet_lies_in_the_zones_that_offer_its_type() -> None:
    plan = compile_fleet(replace(INF2, instance_type="trn1.32xlarge", devices_per_task=1))
    assert plan.zone_ids == ("use2-az3",)


@pytest.mark.parametrize(
    ("spec", "code", "path"),
    [
        (replace(TRN1, instance_type="trn2n.48xlarge"), "unknown-instance-type", "instance_type"),
        (replace(TRN1, instance_type="p5.48xlarge", zone_ids=("use2-az1",)), "not-neuron", "instance_type"),
        (replace(TRN1, region="eu-west-1", zone_ids=("euw1-az1",)), "not-in-region", "instance_type"),
        (replace(TRN1, zone_ids=("use2-az1",)), "not-in-zone", "availability_zone"),
        (replace(INF2, instance_type="trn1.32xlarge", zone_ids=("use2-az1",)), "not-in-zone", "instance_type"),
        (replace(INF2, efa=True), "no-efa", "efa"),
        (replace(INF2, **BLOCK), "no-capacity-block", "market.kind"),
        (replace(TRN1, market=MarketKind.CAPACITY_BLOCK), "capacity-block-without-id", "market.reservation_id"),
        (replace(TRN1, market=MarketKind.SPOT), "spot-multi-node", "market.kind"),
        (replace(TRN1, lnc=2), "lnc-unsupported", "lnc"),
        (replace(INF2, devices_per_task=13), "too-many-devices", "endpoint.devices_per_task"),
    ],
)
def test_what_cannot_be_built_is_refused_at_its_place(spec: FleetSpec, code: str, path: str) -> None:
    assert errors(spec)[code] == path
    with pytest.raises(FleetRefusedError, match=spec.name):
        compile_fleet(spec)


def test_a_task_that_does_not_fit_is_told_once() -> None:
    assert errors(INF2) == {}
    assert list(errors(replace(INF2, devices_per_task=13))) == ["too-many-devices"]


def test_a_type_that_is_not_sold_as_spot_is_refused_as_spot() -> None:
    spec = replace(TRN1, instance_type="trn2u.48xlarge", region="ap-south-2", zone_ids=("aps2-az1",))
    assert "no-spot" in errors(replace(spec, market=MarketKind.SPOT))


def test_trainium2_may_group_cores_or_not() -> None:
    for lnc in (1, 2):
        spec = replace(TRN1, instance_type="trn2.48xlarge", zone_ids=("use2-az1",), lnc=lnc, **BLOCK)
        assert errors(spec) == {}


def test_an_unknown_price_is_noted_and_not_guessed() -> None:
    plan = compile_fleet(replace(TRN1, instance_type="trn2.48xlarge", zone_ids=("use2-az1",)))
    assert plan.price is None
    assert [str(diagnostic) for diagnostic in plan.notes if diagnostic.code == "price-unknown"] == [
        "market.kind: no on-demand price of trn2.48xlarge is known in us-east-2: cost metrics will be absent"
    ]


def test_the_newest_price_of_the_market_counts() -> None:
    reserved = compile_fleet(replace(TRN1, market=MarketKind.RESERVATION)).price
    assert reserved is not None
    assert (reserved.kind, reserved.usd_per_hour, reserved.as_of) == ("on-demand", 21.5, "2026-10-03")
    block = compile_fleet(replace(TRN1, **BLOCK)).price
    assert block is not None
    assert (block.kind, block.usd_per_hour) == ("capacity-block", 9.532)


@pytest.mark.parametrize(
    ("region", "prefix"),
    [
        ("us-east-2", "use2-az"),
        ("ap-southeast-1", "apse1-az"),
        ("eu-central-1", "euc1-az"),
        ("us-gov-west-1", "usgw1-az"),
    ],
)
def test_zone_ids_start_with_their_region(region: str, prefix: str) -> None:
    assert zone_id_prefix(region) == prefix


def test_a_reservation_may_be_larger_than_the_fleet_and_outside_a_group() -> None:
    spec = replace(TRN1, market=MarketKind.RESERVATION, reserved=Reserved(instances=20), placement_group=False)
    plan = compile_fleet(spec)
    assert (plan.reserved_instances, plan.placement_group, plan.placement_group_name) == (20, False, None)


def test_an_existing_reservation_is_used_in_the_group_that_it_lies_in() -> None:
    reserved = Reserved("cr-11112222", placement_group="together")
    plan = compile_fleet(replace(TRN1, market=MarketKind.RESERVATION, reserved=reserved))
    assert (plan.placement_group, plan.placement_group_name, plan.creates_reservation) == (False, "together", False)


def test_a_resource_group_of_reservations_is_a_target_of_its_own() -> None:
    group = "arn:aws:resource-groups:us-east-2:111122223333:group/trn1"
    plan = compile_fleet(replace(TRN1, market=MarketKind.RESERVATION, reserved=Reserved(resource_group=group)))
    assert (plan.reservation_group, plan.reservation_id, plan.creates_reservation) == (group, None, False)


def test_a_plan_says_what_was_asked_for_and_what_it_comes_to() -> None:
    plan = compile_fleet(replace(TRN1, nodes=16))

    assert (plan.spec.name, plan.nodes, plan.market, plan.max_vcpus) == ("pretrain", 16, MarketKind.ON_DEMAND, 16 * 128)
    assert not plan.is_reserved
    assert compile_fleet(replace(TRN1, market=MarketKind.RESERVATION)).is_reserved
    assert compile_fleet(replace(TRN1, **BLOCK)).is_reserved
