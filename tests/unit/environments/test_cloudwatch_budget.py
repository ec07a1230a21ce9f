"""An environment that would cost more in CloudWatch than it allows itself is told so before it is deployed."""

import re
from pathlib import Path

import pytest

from environments import loader
from environments.month_shape import over_cloudwatch_budget
from fleet.diagnostics import Severity

PROD = (loader.FOLDER / "prod.yaml").read_text(encoding="utf-8")
SET = "cloudwatch_usd_per_month: 150"


def prod(folder: Path, *changes: tuple[str, str]) -> Path:
    text = PROD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = folder / "prod.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def found(file: Path) -> list[str]:
    return [each.code for each in loader.diagnose(file) if each.code == "cloudwatch-over-budget"]


def test_the_shipped_environments_are_within_their_budgets() -> None:
    assert SET in PROD
    for name in loader.available():
        assert not list(over_cloudwatch_budget(loader.load(name)))


def test_above_the_budget_is_a_warning_that_says_how_much(tmp_path: Path) -> None:
    environment = loader.load_file(prod(tmp_path, (SET, "cloudwatch_usd_per_month: 20")))
    (warning,) = over_cloudwatch_budget(environment)

    assert warning.severity is Severity.WARNING
    plan = (loader.FOLDER.parent / "docs/plan.md").read_text(encoding="utf-8")
    ((low, expected, high),) = re.findall(r"^cloudwatch +([\d.]+) +([\d.]+) +([\d.]+)$", plan, flags=re.MULTILINE)
    assert str(warning) == (
        f"monitoring.cloudwatch_usd_per_month: CloudWatch is expected to cost ${expected} a month (${low} to ${high}, "
        "list prices of 2026-08), and $20.00 is allowed; see its lines with `fleet plan cost`; "
        "raise the budget, or keep logs for fewer days"
    )


def test_more_nodes_cross_a_budget_that_held(tmp_path: Path) -> None:
    assert found(prod(tmp_path)) == []
    assert found(prod(tmp_path, ("nodes: 16", "nodes: 96"))) == ["cloudwatch-over-budget"]


def test_nothing_is_said_where_no_budget_is_set(tmp_path: Path) -> None:
    assert found(prod(tmp_path, (f"{SET}, ", ""), ("nodes: 16", "nodes: 96"))) == []


@pytest.mark.parametrize("change", [("trn1.32xlarge", "trn1.99xlarge"), ("zone: us-east-2c", "zone: us-east-2q")])
def test_a_file_that_cannot_be_priced_has_its_own_diagnostics(tmp_path: Path, change: tuple[str, str]) -> None:
    assert found(prod(tmp_path, (SET, "cloudwatch_usd_per_month: 1"), change)) == []


def test_a_budget_of_nothing_is_refused(tmp_path: Path) -> None:
    (error,) = (each for each in loader.diagnose(prod(tmp_path, (SET, "cloudwatch_usd_per_month: 0"))) if each.is_error)

    assert error.path == "monitoring.cloudwatch_usd_per_month"
