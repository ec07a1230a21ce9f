"""Who may call an endpoint: what is refused, in one line each, and who is let in by what is taken."""

import copy
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
import yaml

from environments import loader
from environments.clients import Clients
from environments.network import BALANCER_ADDRESSES, PUBLIC_ADDRESSES
from fleet.diagnostics import Diagnostic, Severity
from tests.support.clients import CERTIFICATE

OFFICE = "203.0.113.0/24"
VPC = IPv4Network("10.40.0.0/16")
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def file_of(name: str = "prod") -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((loader.FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return content


def diagnosed(folder: Path, content: dict[str, Any]) -> list[Diagnostic]:
    file = folder / f"{content['name']}.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return loader.diagnose(file)


def said(folder: Path, clients: Any, name: str = "prod", **endpoint: Any) -> list[Diagnostic]:
    """What is said of an endpoint's ``clients``, or of its certificate."""
    content = file_of(name)
    content["fleets"][2]["endpoint"] |= {"clients": clients, **endpoint}
    return [each for each in diagnosed(folder, content) if "clients" in each.path or "certificate" in each.path]


@pytest.mark.parametrize(
    ("clients", "found"),
    [
        ({}, []),
        ({"cidrs": ["10.50.0.0/16", "10.0.0.0/8"]}, []),
        # In the VPC: nothing that was not so.
        ({"cidrs": ["10.40.3.0/24"]}, []),
        ({"cidrs": [OFFICE], "public": True}, [(NOTE, "public-endpoint", "public")]),
        ({"cidrs": ["0.0.0.0/0"]}, [(ERROR, "clients-too-wide", "cidrs[0]")]),
        (
            {"cidrs": [OFFICE, "0.0.0.0/0"], "public": True},
            [(ERROR, "clients-too-wide", "cidrs[1]"), (NOTE, "public-endpoint", "public")],
        ),
        (
            {"cidrs": ["0.0.0.0/1", "128.0.0.0/1"], "public": True},
            [
                (ERROR, "clients-too-wide", "cidrs[0]"),
                (ERROR, "clients-too-wide", "cidrs[1]"),
                (NOTE, "public-endpoint", "public"),
            ],
        ),
        ({"cidrs": ["8.0.0.0/7"]}, [(ERROR, "clients-too-wide", "cidrs[0]")]),
        ({"public": True}, [(ERROR, "public-without-networks", "cidrs")]),
        ({"public": True, "cidrs": []}, [(ERROR, "public-without-networks", "cidrs")]),
        (
            {"cidrs": [OFFICE, "10.40.0.0/16", "100.64.0.0/24"], "public": True},
            [
                (WARNING, "private-network-of-a-public-endpoint", "cidrs[1]"),
                (WARNING, "private-network-of-a-public-endpoint", "cidrs[2]"),
                (NOTE, "public-endpoint", "public"),
            ],
        ),
        ({"cidrs": [OFFICE]}, [(WARNING, "public-network-of-an-internal-endpoint", "cidrs[0]")]),
        ({"cidrs": ["10.0.0.1/16"]}, [(ERROR, "invalid-ip-v4-network", "cidrs[0]")]),
        ({"cidrs": ["::/0"]}, [(ERROR, "invalid-ip-v4-network", "cidrs[0]")]),
        ({"cidrs": ["everybody"]}, [(ERROR, "invalid-ip-v4-network", "cidrs[0]")]),
        ({"cidrs": [16]}, [(ERROR, "invalid-value-error", "cidrs[0]")]),
        ({"cidrs": [None, {"a": 1}]}, [(ERROR, "invalid-value-error", f"cidrs[{index}]") for index in (0, 1)]),
        ({"cidrs": "10.0.0.0/16"}, [(ERROR, "invalid-tuple-type", "cidrs")]),
        ({"cidrs": [f"10.{n}.0.0/16" for n in range(60)]}, [(ERROR, "invalid-too-long", "cidrs")]),
        ({"cidr": ["10.0.0.0/16"]}, [(ERROR, "unknown-key", "cidr")]),
        ({"cidrs": [OFFICE], "public": "perhaps"}, [(ERROR, "invalid-bool-parsing", "public")]),
    ],
)
def test_what_is_said_of_those_who_may_call(
    tmp_path: Path, clients: dict[str, Any], found: list[tuple[Severity, str, str]]
) -> None:
    answer = said(tmp_path, clients)

    assert [(each.severity, each.code, each.path) for each in answer] == [
        (severity, code, f"fleets[2].endpoint.clients.{path}") for severity, code, path in found
    ]
    assert all(each.fix or each.severity is NOTE for each in answer)


@pytest.mark.parametrize(
    ("clients", "line"),
    [
        (
            {"cidrs": ["10.0.0.1/16"]},
            (
                "cidrs[0]: '10.0.0.1/16' is not allowed; "
                "it must be an IPv4 network without host bits, such as 10.20.0.0/16"
            ),
        ),
        (
            {"cidrs": "10.0.0.0/16"},
            (
                "cidrs: '10.0.0.0/16' is not allowed; "
                "it must be a list of at most 59 IPv4 networks, such as [10.50.0.0/16, 203.0.113.0/24]"
            ),
        ),
        (
            {"cidrs": ["0.0.0.0/0"], "public": True},
            "cidrs[0]: 0.0.0.0/0 is everybody; name the networks that call, each a /8 or smaller",
        ),
        (
            {"public": True},
            (
                "cidrs: missing: a public endpoint is open to nobody but the networks that are named; "
                "name those that call, such as [203.0.113.0/24], or remove public"
            ),
        ),
        ({"cidr": []}, "cidr: unknown key; did you mean cidrs?"),
    ],
)
def test_it_is_said_in_one_line(tmp_path: Path, clients: dict[str, Any], line: str) -> None:
    answer = said(tmp_path, clients)

    assert str(answer[0]) == f"fleets[2].endpoint.clients.{line}"


def test_what_is_no_mapping_is_told_what_would_be_one(tmp_path: Path) -> None:
    (answer,) = said(tmp_path, "10.50.0.0/16")

    assert str(answer) == (
        "fleets[2].endpoint.clients: '10.50.0.0/16' is not allowed; "
        "it must be the networks that call, such as {cidrs: [10.50.0.0/16]}"
    )


@pytest.mark.parametrize(
    ("clients", "codes"),
    [
        ({"cidrs": [OFFICE], "public": True}, {"public-without-tls", "public-endpoint"}),
        ({"cidrs": ["10.50.0.0/16"]}, {"clients-over-plain-http"}),
        ({"cidrs": ["10.10.8.0/24"]}, set()),
    ],
)
def test_plain_http_is_for_what_nothing_outside_can_reach(
    tmp_path: Path, clients: dict[str, Any], codes: set[str]
) -> None:
    assert {each.code for each in said(tmp_path, clients, "local")} == codes
    assert {each.code for each in said(tmp_path, clients, "local", certificate_arn=CERTIFICATE)} <= {"public-endpoint"}


def test_a_public_endpoint_without_a_certificate_is_refused_once(tmp_path: Path) -> None:
    content = file_of()
    content["fleets"][2]["endpoint"] |= {"clients": {"cidrs": [OFFICE], "public": True}}
    del content["fleets"][2]["endpoint"]["certificate_arn"]

    assert [each.code for each in diagnosed(tmp_path, content) if each.is_error] == ["endpoint-without-tls"]


def test_a_network_is_let_in_once() -> None:
    other, within = IPv4Network("10.50.0.0/16"), IPv4Network("10.40.8.0/24")

    assert Clients().let_in(VPC) == (VPC,)
    assert Clients(cidrs=(other, within, other, VPC)).let_in(VPC) == (VPC, other)
    assert Clients(cidrs=(other, within, other), public=True).let_in(VPC) == (other, within)


def many(public: int) -> dict[str, Any]:
    content = file_of()
    content["paging"].pop("routes")
    content["budgets"] = None
    chat = content["fleets"][2]
    chat["endpoint"]["clients"] = {"cidrs": [OFFICE], "public": True}
    content["fleets"] = [{**copy.deepcopy(chat), "name": f"chat-{n}", "nodes": 1} for n in range(public)]
    return content


def test_public_subnets_hold_as_many_load_balancers_as_they_have_addresses_for(tmp_path: Path) -> None:
    most = PUBLIC_ADDRESSES // BALANCER_ADDRESSES

    assert (PUBLIC_ADDRESSES, most) == (58, 7)
    assert [each for each in diagnosed(tmp_path, many(most)) if each.is_error] == []
    (refused,) = [each for each in diagnosed(tmp_path, many(most + 1)) if each.is_error]
    assert (refused.code, refused.path) == ("too-many-public-endpoints", "fleets")


def test_a_public_endpoint_takes_no_addresses_from_the_nodes(tmp_path: Path) -> None:
    # A zone of a /23 has 47 addresses to give: 20 nodes and their tasks take 40, and a load balancer 8.
    content = many(1)
    content["network"]["cidr"] = "10.40.0.0/23"
    content["fleets"][0]["nodes"] = 60
    assert [each for each in diagnosed(tmp_path, content) if each.is_error] == []

    content["fleets"][0]["endpoint"]["clients"] = {}
    assert {each.code for each in diagnosed(tmp_path, content) if each.is_error} == {"too-few-addresses"}
