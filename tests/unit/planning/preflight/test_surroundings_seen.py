"""Zones, offerings, images, prices, stacks, security groups, secrets and certificates, as an account shows them."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from environments import loader
from fleet.capacity import compile_fleet
from fleet.capacity.network_interfaces import Direction, GroupRule
from planning.preflight.account import diagnose_identity
from planning.preflight.costs import diagnose_price
from planning.preflight.endpoints import CertificateSeen, SecretSeen, diagnose_certificate, diagnose_secret
from planning.preflight.launches import ImageSeen, diagnose_image, diagnose_security_groups
from planning.preflight.stacks import ALWAYS, StackSeen, diagnose_stacks
from planning.preflight.zones import ZoneSeen, diagnose_offering, diagnose_zones
from tests.support.capacity import INF2, TRN1

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def codes(found: Any) -> dict[str, str]:
    return {each.code: each.severity.value for each in found}


def test_zone_names_are_compared_by_what_they_mean() -> None:
    seen = [
        ZoneSeen("x-1a", "az1", "available"),
        ZoneSeen("x-1b", "az2", "available"),
        ZoneSeen("x-1c", "az3", "impaired"),
    ]
    assert codes(diagnose_zones({"x-1a": "az1", "x-1b": "az2"}, seen)) == {}
    (found,) = diagnose_zones({"x-1a": "az2"}, seen)
    assert found.code == "zone-id-differs"
    assert found.message == "in this account x-1a is az1, and az2 is called x-1b"
    assert codes(diagnose_zones({"x-1d": "az4"}, seen)) == {"zone-not-in-account": "error"}
    assert codes(diagnose_zones({"x-1c": "az3"}, seen)) == {"zone-impaired": "warning"}


def test_a_type_has_to_be_offered_where_the_nodes_lie() -> None:
    trn1, inf2 = compile_fleet(TRN1), compile_fleet(replace(INF2, nodes=3))
    assert codes(diagnose_offering(trn1, {"use2-az3"})) == {}
    assert codes(diagnose_offering(trn1, {"use2-az1"})) == {"not-offered-in-zone": "error"}
    assert codes(diagnose_offering(inf2, {"use2-az3"})) == {"offered-in-fewer-zones": "warning"}
    assert codes(diagnose_offering(inf2, set())) == {"not-offered-in-zone": "error"}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {}),
        ({"state": "pending"}, {"image-not-available": "error"}),
        ({"architecture": "arm64"}, {"image-of-other-architecture": "error"}),
        ({"deprecated_at": NOW}, {"image-deprecated": "warning"}),
        ({"deprecated_at": NOW + timedelta(seconds=1)}, {}),
    ],
)
def test_an_image_has_to_start_a_node(changed: dict[str, Any], expected: dict[str, str]) -> None:
    seen = replace(ImageSeen("ami-1", "available", "x86_64"), **changed)
    assert codes(diagnose_image("/image", "ami-1", seen, NOW)) == expected
    assert codes(diagnose_image("/image", "ami-1", None, NOW)) == {"image-not-found": "error"}


def test_a_price_is_old_after_ninety_days_and_a_month_counts_from_its_first() -> None:
    price = compile_fleet(TRN1).price
    assert price is not None
    # 2026-08-23 and 90 days are 2026-11-21; the first of August and 90 days are 2026-10-30.
    for as_of, today, old in (
        ("2026-08-23", date(2026, 11, 21), False),
        ("2026-08-22", date(2026, 11, 21), True),
        ("2026-08", date(2026, 10, 30), False),
        ("2026-08", date(2026, 10, 31), True),
    ):
        found = codes(diagnose_price(TRN1, replace(price, as_of=as_of), today))
        assert found == ({"price-old": "warning"} if old else {}), as_of
    assert codes(diagnose_price(TRN1, None, date(2026, 11, 21))) == {"price-unknown": "warning"}


def stacks(**statuses: str) -> list[StackSeen]:
    named = dict.fromkeys(ALWAYS, "CREATE_COMPLETE") | {name.replace("_", "-"): of for name, of in statuses.items()}
    return [StackSeen(f"neuron-fleet-prod-{name}", status, "why") for name, status in named.items()]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ({}, {"stack-not-deployed": "warning"}),
        ({"reservation_a": "UPDATE_COMPLETE"}, {}),
        ({"reservation_a": "ROLLBACK_COMPLETE"}, {"reservation-failed": "error"}),
        ({"reservation_a": "UPDATE_ROLLBACK_COMPLETE"}, {"stack-update-failed": "warning"}),
        ({"reservation_a": "CREATE_COMPLETE", "network": "UPDATE_ROLLBACK_FAILED"}, {"stack-failed": "error"}),
        ({"reservation_a": "CREATE_COMPLETE", "network": "UPDATE_IN_PROGRESS"}, {"stack-in-progress": "note"}),
        ({"reservation_a": "CREATE_COMPLETE", "network": "ROLLBACK_IN_PROGRESS"}, {"stack-in-progress": "note"}),
        ({"reservation_a": "CREATE_COMPLETE", "extra": "CREATE_FAILED"}, {"stack-failed": "error"}),
        (
            {"reservation_a": "CREATE_COMPLETE", "reservation_gone": "UPDATE_COMPLETE"},
            {"reservation-orphaned": "warning"},
        ),
        ({"reservation_a": "CREATE_COMPLETE", "training": "DELETE_COMPLETE"}, {"stack-not-deployed": "warning"}),
    ],
)
def test_the_state_of_stacks(statuses: dict[str, str], expected: dict[str, str]) -> None:
    assert codes(diagnose_stacks("prod", ["a"], stacks(**statuses))) == expected


def test_pools_are_missed_where_there_is_a_pool() -> None:
    assert codes(diagnose_stacks("prod", [], stacks(), has_pools=True)) == {"stack-not-deployed": "warning"}
    assert codes(diagnose_stacks("prod", [], stacks(pools="CREATE_COMPLETE"), has_pools=True)) == {}
    assert codes(diagnose_stacks("prod", [], stacks())) == {}
    assert codes(diagnose_stacks("prod", [], stacks(), is_hosted=True)) == {"stack-not-deployed": "warning"}


def test_before_the_first_deployment_there_is_one_note() -> None:
    for seen in ([], [StackSeen("neuron-fleet-prod-network", "REVIEW_IN_PROGRESS")]):
        assert codes(diagnose_stacks("prod", ["a"], seen)) == {"not-deployed": "note"}


def test_one_group_that_lets_peers_talk_is_enough() -> None:
    both = [GroupRule(direction, "-1", "sg-efa") for direction in Direction]
    world = [GroupRule(Direction.OUT, "-1", "sg-other")]
    assert codes(diagnose_security_groups({"sg-nodes": world, "sg-efa": both})) == {}
    assert codes(diagnose_security_groups({"sg-nodes": world, "sg-efa": both[:1]})) == {
        "efa-no-egress-of-peers": "error"
    }
    found = list(diagnose_security_groups({"sg-nodes": world, "sg-efa": []}))
    assert [each.value for each in found] == ["sg-efa", "sg-efa"]


def test_secrets_and_certificates() -> None:
    assert codes(diagnose_secret("p", "s", SecretSeen(is_deleted=False, has_value=True))) == {}
    assert codes(diagnose_secret("p", "s", SecretSeen(is_deleted=True, has_value=True))) == {"secret-deleted": "error"}
    assert codes(diagnose_secret("p", "s", SecretSeen(is_deleted=False, has_value=False))) == {"secret-empty": "error"}
    assert codes(diagnose_secret("p", "s", None)) == {"secret-not-found": "error"}
    for days, expected in ((31, {}), (30, {"certificate-ends-soon": "warning"})):
        assert (
            codes(diagnose_certificate("arn", CertificateSeen("ISSUED", NOW + timedelta(days=days)), NOW)) == expected
        )
    assert codes(diagnose_certificate("arn", CertificateSeen("EXPIRED", None), NOW)) == {
        "certificate-not-issued": "error"
    }


def test_the_account_is_the_environments() -> None:
    account = loader.load("prod").account
    assert codes(diagnose_identity(account, account, "arn")) == {}
    assert codes(diagnose_identity(account, "000000000000", "arn")) == {"wrong-account": "error"}
