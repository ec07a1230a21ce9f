"""Environment files: the shipped ones are right, and every mistake is named with its place and what is right."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from environments import loader
from environments.loader import EnvironmentFileError

PROD = (loader.FOLDER / "prod.yaml").read_text(encoding="utf-8")
SYNTAX = "quote text that has special characters, and check the indentation"


def mistakes(folder: Path, text: str, name: str = "prod") -> list[str]:
    file = folder / f"{name}.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(EnvironmentFileError) as refused:
        loader.load_file(file)
    return [line.removeprefix(f"{file}: ") for line in str(refused.value).splitlines()]


@pytest.mark.parametrize("name", loader.available())
def test_a_shipped_environment_is_right_and_only_its_quotas_are_noted(name: str) -> None:
    assert loader.load(name).name == name
    found = loader.diagnose(loader.FOLDER / f"{name}.yaml", now=datetime(2026, 11, 21, tzinfo=UTC))
    # Staging's pool is of a third quota, that of Spot.
    quotas = ["quota-needed"] * (3 if name == "staging" else 2)
    assert [diagnostic.code for diagnostic in found] == [*quotas, "alarms-cost"]


def test_production_is_what_it_says() -> None:
    prod = loader.load("prod")
    assert [(fleet.instance_type, fleet.nodes, fleet.market.kind) for fleet in prod.fleets] == [
        ("trn1.32xlarge", 16, "reservation"),
        ("trn2.48xlarge", 8, "capacity-block"),
        ("inf2.48xlarge", 4, "on-demand"),
    ]


MISTAKES = {
    ("region:", "regio:"): ("regio: unknown key; did you mean region?"),
    ("devices_per_task: 12", "devises_per_task: 12"): (
        "fleets[2].endpoint.devises_per_task: unknown key; did you mean devices_per_task?"
    ),
    ("devices_per_task: 12", "devices_per_task: 13"): (
        "fleets[2].endpoint.devices_per_task: 13 devices in a task, but inf2.48xlarge has 12; use 12 or fewer"
    ),
    ("kind: reservation", "kind: reservaton"): (
        "fleets[0].market.kind: 'reservaton' is not allowed; did you mean reservation?"
    ),
    ("kind: reservation", "reservation_id: cr-11112222"): (
        "fleets[0].market.kind: missing; it must be one of on-demand, spot, reservation, capacity-block"
    ),
    ("devices_per_task: 12", "rollout: {steps: [5, 50]}"): (
        "fleets[2].endpoint.rollout.steps: a list is not allowed; it must be percents that rise and end at 100, "
        "such as [5, 25, 50, 100]"
    ),
    ("devices_per_task: 12", "rollout: {gates: {error_percents: 2}}"): (
        "fleets[2].endpoint.rollout.gates.error_percents: unknown key; did you mean error_percent?"
    ),
    ("purpose: training", "owner2: x"): ("fleets[0].purpose: missing; it must be one of training, inference"),
    ("    owner: frontier\n", ""): ("fleets[1].owner: missing; add owner, as in environments/prod.yaml"),
    ('"111122223333"', "111122223333"): (
        'account: 111122223333 is not allowed; it must be twelve digits in quotes, such as "111122223333"'
    ),
    ("name: prod", "name: prd"): ("name: prd is not the file's name; call it prod, or rename the file to prd.yaml"),
    ("zone: us-east-2a", "zone: us-east-2q"): (
        "fleets[1].availability_zone: us-east-2q is not one of network.availability_zones; "
        "did you mean us-east-2c? known: us-east-2a, us-east-2b, us-east-2c; or add it there with its zone id"
    ),
    ("zone: us-east-2c", "zone: us-east-2a"): (
        "fleets[0].availability_zone: trn1.32xlarge is not offered in use2-az1 (as of "
        "2026-08-01); in us-east-2 it is offered in use2-az3"
    ),
    ("us-east-2b: use2-az2", "us-east-2b: use1-az2"): (
        "network.availability_zones.us-east-2b: use1-az2 is not a zone id of us-east-2; did you mean use2-az2?"
    ),
    ("name: trn2-frontier", "name: trn1-pretrain"): (
        "fleets: two fleets are called trn1-pretrain; give each its own name"
    ),
    ("region: us-east-2\n", "region: us-east-2\nregion: us-east-2\n"): (
        "line 5, column 1: the key region is here twice; " + SYNTAX
    ),
}


@pytest.mark.parametrize(("written", "instead"), MISTAKES)
def test_a_mistake_is_one_line_with_its_place_and_what_is_right(tmp_path: Path, written: str, instead: str) -> None:
    assert written in PROD
    assert mistakes(tmp_path, PROD.replace(written, instead, 1)) == [MISTAKES[written, instead]]


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    text = PROD.replace("nodes: 16", "nodes: 0").replace("devices_per_task: 12", "devices_per_task: -1")
    assert [line.partition(":")[0] for line in mistakes(tmp_path, text)] == [
        "fleets[0].nodes",
        "fleets[2].endpoint.devices_per_task",
    ]


def test_an_endpoint_without_a_certificate_needs_an_environment_that_allows_it(tmp_path: Path) -> None:
    text = PROD.replace("      certificate_arn:", "      # certificate_arn:")
    (line,) = mistakes(tmp_path, text)
    assert line.startswith("fleets[2].endpoint.certificate_arn: missing: the endpoint would speak plain HTTP")
    assert loader.load("local").plain_http


def test_an_endpoint_needs_two_zones_for_its_load_balancer(tmp_path: Path) -> None:
    dev = (loader.FOLDER / "dev.yaml").read_text(encoding="utf-8")
    (line,) = mistakes(tmp_path, dev.replace("us-east-2a: use2-az1, ", ""), "dev")
    assert line.startswith("fleets[1].endpoint: its load balancer needs two zones")


def test_nodes_have_a_way_to_the_package_index(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, PROD.replace("nat_gateways: 3", "nat_gateways: 0"))
    assert line.startswith("network.nat_gateways: 0 is not allowed")


NO_ENVIRONMENTS = {
    "": ("is empty; start from environments/dev.yaml"),
    "- prod": ("holds a list, not keys and values; start from environments/dev.yaml"),
    "name: [": ("line 1, column 8: expected the node content, but found '<stream end>'; " + SYNTAX),
    "a: !!python/object:os.system 1": (
        "line 1, column 4: could not determine a constructor for the tag 'tag:yaml.org,2002:python/object:os.system'; "
        + SYNTAX
    ),
    "[" * 3000: ("is nested too deeply; " + SYNTAX),
    "? [a]\n: b": ("line 1, column 3: found unhashable key; " + SYNTAX),
}


@pytest.fixture
def ordinary_depth() -> Iterator[None]:
    """A library of the embedded AWS raises the limit for the whole process; the command line runs without it."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.usefixtures("ordinary_depth")
@pytest.mark.parametrize("text", NO_ENVIRONMENTS)
def test_a_file_that_is_not_an_environment_is_one_line(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text) == [NO_ENVIRONMENTS[text]]


def test_a_file_that_is_not_there_or_not_text_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    for name, reason in {"absent.yaml": "No such file", "bytes.yaml": "not UTF-8"}.items():
        with pytest.raises(EnvironmentFileError, match=reason):
            loader.load_file(tmp_path / name)


@pytest.mark.parametrize("name", [None, "", "production", "../environments/prod"])
def test_an_unknown_environment_lists_the_known_ones(name: str | None) -> None:
    with pytest.raises(EnvironmentFileError, match="dev, local, prod, staging"):
        loader.load(name)
