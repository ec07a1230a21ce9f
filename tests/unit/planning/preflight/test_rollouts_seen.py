"""Quotas held against what a new version of an endpoint needs beside the old one."""

from dataclasses import replace
from typing import Any

import pytest

from fleet.fleet_spec import FleetSpec, MarketKind, Reserved
from fleet.hosting.sizes import quota_code, sizes
from planning.preflight.rollouts import HostedNeed, diagnose_candidates, diagnose_hosted_quotas
from tests.support.capacity import INF2

INF, INF_SPOT, OF_48XLARGE = "L-1945791B", "L-B5D1601B", "L-286C98BC"
# 192 vCPUs a node.
CHAT = replace(INF2, name="chat", nodes=4)
NAME = "ml.inf2.48xlarge for endpoint usage"


def found(spec: FleetSpec, value: float | None, nodes: int, others: int, code: str = INF) -> list[Any]:
    values = {} if value is None else {code: value}
    return list(diagnose_candidates([spec], {code: nodes}, values, {code: others}, "us-east-2"))


@pytest.mark.parametrize(
    ("value", "nodes", "others", "is_told"),
    [
        (1536.0, 768, 0, False),
        (1535.0, 768, 0, True),
        (1536.0, 768, 1, True),
        # That all nodes do not fit is said already, and a quota that nobody knows as well.
        (767.0, 768, 0, False),
        (None, 768, 0, False),
    ],
)
def test_a_quota_has_to_hold_the_candidate_beside_all_nodes(
    value: float | None, nodes: int, others: int, is_told: bool
) -> None:
    assert [each.code for each in found(CHAT, value, nodes, others)] == ["quota-too-low-for-rollout"] * is_told


def test_the_finding_names_the_endpoint_and_asks_for_enough() -> None:
    (told,) = found(CHAT, 800.0, 768, 4)
    assert (told.severity.value, told.value) == ("warning", "chat")
    assert "is 800 vCPUs: all nodes and others in the account use 772" in told.message
    assert "a new version of chat needs 768 more" in told.message
    assert told.fix.endswith("--service-code ec2 --quota-code L-1945791B --desired-value 1540")


def test_a_candidate_is_on_demand_beside_a_reservation_and_on_spot_beside_spot() -> None:
    held = replace(CHAT, market=MarketKind.RESERVATION, reserved=Reserved(reservation_id="cr-1", instances=40))
    assert "needs 768 more" in found(held, 800.0, 768, 0)[0].message
    spot = replace(CHAT, market=MarketKind.SPOT)
    assert found(spot, 800.0, 768, 0) == []
    assert [each.code for each in found(spot, 800.0, 768, 0, INF_SPOT)] == ["quota-too-low-for-rollout"]


@pytest.mark.parametrize(
    ("name", "value", "code", "severity"),
    [
        (NAME, 22.0, "", ""),
        (NAME, 21.0, "quota-too-low-for-rollout", "warning"),
        (NAME, 7.0, "quota-too-low-for-rollout", "warning"),
        (NAME, 6.0, "quota-too-low", "error"),
        # AWS gives a code to something else: no figure of it is believed.
        ("ml.inf2.48xlarge for transform job usage", 100.0, "quota-unknown", "warning"),
    ],
)
def test_sagemakers_quota_has_to_hold_all_endpoints_and_four_times_the_largest(
    name: str, value: float, code: str, severity: str
) -> None:
    needs = [HostedNeed("chat", "inf2.48xlarge", 5), HostedNeed("rank", "inf2.48xlarge", 2)]
    told = list(diagnose_hosted_quotas(needs, {OF_48XLARGE: (name, value)}, "us-east-2"))
    assert [(each.code, each.severity.value) for each in told] == ([(code, severity)] if code else [])
    if severity == "warning" and value == 21:
        assert "the endpoints have up to 7: a new version of chat needs up to 15 more" in told[0].message
        assert told[0].fix.endswith(f"--service-code sagemaker --quota-code {OF_48XLARGE} --desired-value 22")


def test_a_quota_that_service_quotas_does_not_know_is_looked_for_by_name() -> None:
    (told,) = diagnose_hosted_quotas([HostedNeed("chat", "inf2.xlarge", 2)], {}, "us-east-2")
    assert (told.code, told.value) == ("quota-unknown", "ml.inf2.xlarge for endpoint usage")


def test_every_size_that_sagemaker_hosts_has_a_quota_of_its_own() -> None:
    codes = [quota_code(each) for each in sizes()]
    assert all(codes)
    assert len(set(codes)) == len(codes)
