"""The network interfaces, market, reservation and placement of every instance type in every market, as reviewed.

After a change that is meant: ``pytest tests/golden --snapshot-update``, and read the difference.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fleet.capacity import compile_fleet, diagnose_fleet
from fleet.fleet_spec import MarketKind
from fleet.instances import instance_type
from local.emulator.resources.schemas import PropertyError, checked
from tests.golden.cases import MARKETS, RESERVATION, TYPES, Golden, golden_cases
from tests.golden.conftest import OWN_GROUP, launch_template_data, templates
from tests.support.linting import errors

LAYOUTS: dict[str, dict[str, list[list[Any]]]] = json.loads(
    (Path(__file__).parent / "efa_layouts.json").read_text(encoding="utf-8")
)["layouts"]
CASES = list(golden_cases())
BUILT = [case for case in CASES if not any(d.is_error for d in diagnose_fleet(case.spec))]


def written(case: Golden) -> dict[str, Any]:
    """What a golden file says of one case."""
    diagnostics = diagnose_fleet(case.spec)
    if refused := [diagnostic.code for diagnostic in diagnostics if diagnostic.is_error]:
        return {"refused": refused}
    plan, data = compile_fleet(case.spec), launch_template_data(case)
    assert data is not None
    kept = ("InstanceMarketOptions", "CapacityReservationSpecification", "Placement", "NetworkInterfaces")
    # One interface on a line: sixteen of them are a table, and no pages.
    interfaces = [", ".join(f"{key} {nic[key]}" for key in sorted(nic)) for nic in data["NetworkInterfaces"]]
    return {
        "where": f"{case.spec.region} {', '.join(plan.zone_ids)}",
        "launch_template": {key: data[key] for key in kept if key in data} | {"NetworkInterfaces": interfaces},
        "reservation_created_for": plan.reserved_instances,
        "addresses_per_node": plan.addresses_per_node,
        "told": [diagnostic.code for diagnostic in diagnostics],
    }


@pytest.mark.parametrize("market", MARKETS)
@pytest.mark.parametrize("name", TYPES)
def test_launch_template(name: str, market: str, golden: SnapshotAssertion) -> None:
    parts = {case.part: written(case) for case in CASES if (case.instance_type, case.market) == (name, market)}
    assert parts == golden


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case.construct_id)
def test_cloudformation_has_every_property_of_it(case: Golden) -> None:
    # The schema knows no intrinsic functions, and user data is one.
    properties = {"LaunchTemplateData": (launch_template_data(case) or {}) | {"UserData": "dHJ1ZQ=="}}
    assert checked("AWS::EC2::LaunchTemplate", case.spec.region, properties) == properties


def test_a_property_that_cloudformation_does_not_have_would_be_found() -> None:
    data = (launch_template_data(BUILT[0]) or {}) | {"UserData": "dHJ1ZQ==", "MarketType": "spot"}
    with pytest.raises(PropertyError, match="MarketType"):
        checked("AWS::EC2::LaunchTemplate", "us-east-2", {"LaunchTemplateData": data})


@pytest.mark.parametrize("region", sorted({case.spec.region for case in BUILT}))
def test_cloudformation_would_accept_all_of_them(region: str) -> None:
    # E3628 knows instance types by their on-demand price lists: types that are sold as Capacity Blocks only are not
    # there. Which type is offered where is the catalogue's own, dated, fact.
    assert errors(json.dumps(templates()[region]), region, "E3628") == []


def interfaces(case: Golden) -> list[list[Any]]:
    return [
        [nic["NetworkCardIndex"], nic["DeviceIndex"], nic["InterfaceType"]]
        for nic in (launch_template_data(case) or {})["NetworkInterfaces"]
    ]


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case.construct_id)
def test_the_interfaces_are_those_that_aws_documents(case: Golden) -> None:
    documented = LAYOUTS.get(case.instance_type)
    if documented and case.part.startswith("training"):
        assert interfaces(case) == documented[case.spec.efa_layout]
    else:
        assert interfaces(case) == [[0, 0, "interface"]]


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_documented_layout_fills_each_card_of_the_catalogue_once(name: str) -> None:
    known = instance_type(name)
    for layout in LAYOUTS[name].values():
        assert layout[0][:2] == [0, 0]
        assert layout[0][2] != "efa-only"
        assert [card for card, _, kind in layout if kind.startswith("efa")] == list(range(known.network_cards))
        assert {device for _, device, _ in layout} <= set(range(known.enis_per_card))


RESERVED = {
    "reservation-created": {"CapacityReservationResourceGroupArn": OWN_GROUP},
    "reservation-created-ungrouped": {"CapacityReservationResourceGroupArn": OWN_GROUP},
    "reservation-existing": {"CapacityReservationId": RESERVATION},
    "reservation-existing-grouped": {"CapacityReservationId": RESERVATION},
    "capacity-block": {"CapacityReservationId": RESERVATION},
}


@pytest.mark.parametrize(
    "case", [each for each in BUILT if each.market in RESERVED], ids=lambda case: case.construct_id
)
def test_a_reservation_that_is_made_here_is_found_by_its_group_and_another_by_its_id(case: Golden) -> None:
    specification = (launch_template_data(case) or {})["CapacityReservationSpecification"]
    # EC2 refuses a preference beside a target.
    assert specification == {"CapacityReservationTarget": RESERVED[case.market]}


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case.construct_id)
def test_a_block_is_in_no_group_and_says_its_market_and_a_reservation_does_not(case: Golden) -> None:
    data = launch_template_data(case) or {}
    market = data.get("InstanceMarketOptions", {}).get("MarketType")
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    match case.spec.market:
        case MarketKind.CAPACITY_BLOCK:
            assert (market, len(target), "Placement" in data) == ("capacity-block", 1, False)
        case MarketKind.RESERVATION:
            assert (market, len(target)) == (None, 1)
        case MarketKind.SPOT:
            assert (market, len(target)) == ("spot", 0)
        case MarketKind.ON_DEMAND:
            assert (market, len(target)) == (None, 0)
