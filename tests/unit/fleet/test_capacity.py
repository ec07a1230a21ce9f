"""From a fleet as asked for to a launch plan, or to the reason why not."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from fleet.capacity import FleetRefusedError, InterfaceType, compile_fleet, diagnose_fleet, ladder, quotas_needed
from fleet.capacity.peers import Direction, GroupRule, diagnose_peers
from fleet.capacity.zones import zone_id_prefix
from fleet.fleet_spec import EfaLayout, FleetSpec, Framework, MarketKind, Purpose, Reserved, Software

TRN1 = FleetSpec(
    name="pretrain",
    purpose=Purpose.TRAINING,
    instance_type="trn1.32xlarge",
    nodes=16,
    region="us-east-2",
    zone_ids=("use2-az3",),
    market=MarketKind.ON_DEMAND,
    availability_zone="us-east-2c",
)
BLOCK: dict[str, Any] = {
    "market": MarketKind.CAPACITY_BLOCK,
    "reserved": Reserved(reservation_id="cr-0a1b2c3d4e5f60718", ends_at=datetime(2026, 12, 18, 11, 30, tzinfo=UTC)),
}
INF2 = replace(
    TRN1,
    purpose=Purpose.INFERENCE,
    instance_type="inf2.48xlarge",
    zone_ids=("use2-az1", "use2-az2", "use2-az3"),
    availability_zone=None,
    devices_per_task=12,
    tasks=16,
)


def errors(spec: FleetSpec) -> dict[str, str]:
    return {diagnostic.code: diagnostic.path for diagnostic in diagnose_fleet(spec) if diagnostic.is_error}


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
        (replace(INF2, tasks=17), "too-many-tasks", "endpoint.tasks"),
        (replace(INF2, tasks=17, devices_per_task=1), "too-many-tasks", "endpoint.tasks"),
    ],
)
def test_what_cannot_be_built_is_refused_at_its_place(spec: FleetSpec, code: str, path: str) -> None:
    assert errors(spec)[code] == path
    with pytest.raises(FleetRefusedError, match=spec.name):
        compile_fleet(spec)


def test_tasks_that_do_not_fit_are_told_once() -> None:
    assert errors(INF2) == {}
    assert list(errors(replace(INF2, tasks=17, devices_per_task=13))) == ["too-many-devices"]


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


def test_a_training_fleet_tries_its_other_zones_and_then_its_other_types() -> None:
    spec = replace(
        TRN1,
        instance_type="trn2.48xlarge",
        zone_ids=("use2-az1",),
        fallback_zone_ids=("use2-az2", "use2-az3"),
        alternative_types=("trn1n.32xlarge", "trn1.32xlarge"),
    )
    # trn1 and trn1n are offered in use2-az3 only.
    assert [(plan.instance_type.name, plan.zone_ids, len(plan.network_interfaces)) for plan in ladder(spec)] == [
        ("trn2.48xlarge", ("use2-az1",), 16),
        ("trn2.48xlarge", ("use2-az2",), 16),
        ("trn2.48xlarge", ("use2-az3",), 16),
        ("trn1n.32xlarge", ("use2-az3",), 16),
        ("trn1.32xlarge", ("use2-az3",), 8),
    ]


def test_an_inference_fleet_tries_type_by_type_in_all_its_zones() -> None:
    spec = replace(INF2, alternative_types=("inf2.24xlarge", "trn1.32xlarge"), devices_per_task=6)
    assert [(plan.instance_type.name, plan.zone_ids) for plan in ladder(spec)] == [
        ("inf2.48xlarge", INF2.zone_ids),
        ("inf2.24xlarge", INF2.zone_ids),
        ("trn1.32xlarge", ("use2-az3",)),
    ]
    # 12 devices are more than an inf2.24xlarge has: that rung cannot be built.
    assert len(ladder(replace(spec, devices_per_task=12))) == 2


def test_reserved_capacity_has_one_rung_and_a_refused_fleet_none() -> None:
    assert len(ladder(replace(TRN1, market=MarketKind.RESERVATION, fallback_zone_ids=("use2-az3",)))) == 1
    with pytest.raises(FleetRefusedError):
        ladder(replace(TRN1, nodes=2, efa=True, instance_type="inf2.48xlarge"))


def test_quotas_count_reservations_and_leave_blocks_out() -> None:
    specs = [
        TRN1,  # 16 x 128 vCPUs
        replace(TRN1, market=MarketKind.RESERVATION, nodes=2, reserved=Reserved(instances=4)),  # 4 x 128
        replace(TRN1, **BLOCK),
        replace(INF2, market=MarketKind.SPOT),  # 16 x 192
        replace(INF2, instance_type="inf2.xlarge", nodes=3),  # 3 x 4
        replace(INF2, instance_type="inf3.xlarge"),
    ]
    assert [(need.code, need.name, need.vcpus) for need in quotas_needed(specs)] == [
        ("L-1945791B", "Running On-Demand Inf instances", 12),
        ("L-2C3B7624", "Running On-Demand Trn instances", 2560),
        ("L-B5D1601B", "All Inf Spot Instance Requests", 3072),
    ]


def test_a_group_of_peers_allows_itself_in_both_directions() -> None:
    inward, outward = (GroupRule(direction, "-1", "sg-1") for direction in Direction)
    anywhere = GroupRule(Direction.OUT, "-1", "0.0.0.0/0")
    tcp = GroupRule(Direction.OUT, "tcp", "sg-1")
    assert list(diagnose_peers("sg-1", [inward, outward, anywhere])) == []
    assert [found.code for found in diagnose_peers("sg-1", [inward, anywhere, tcp])] == ["efa-no-egress-of-peers"]
    assert [found.code for found in diagnose_peers("sg-1", [outward])] == ["efa-no-ingress-of-peers"]
    assert all(found.fix for found in diagnose_peers("sg-1", []))
