"""What a file may say of budgets, and one line for each mistake."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from environments import loader
from environments.budget_rules import diagnose_budgets
from fleet.diagnostics import Severity

ROLE = "arn:aws:iam::111122223333:role/on-call"


def written(folder: Path, name: str, budgets: Any) -> Path:
    content = yaml.safe_load((loader.FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump({**content, "budgets": budgets}), encoding="utf-8")
    return file


def test_dev_stops_its_on_demand_fleet_and_prod_has_none_to_stop() -> None:
    dev, prod, staging = (loader.load(name) for name in ("dev", "prod", "staging"))

    assert [fleet.name for fleet in dev.stoppable_fleets] == ["trn1-small"]
    assert prod.stoppable_fleets == ()
    assert (staging.budgets, staging.stoppable_fleets, staging.forecast_percent) == (None, (), None)
    assert prod.forecast_percent == 105


@pytest.mark.parametrize(
    ("budgets", "said"),
    [
        ({"monthly_usd": 0}, r"budgets\.monthly_usd"),
        ({"monthly_usd": "much"}, r"budgets\.monthly_usd"),
        ({"owners": {"ana": 5}}, r"budgets\.monthly_usd"),
        ({"monthly_usd": 5, "stop": "now"}, r"budgets\.stop"),
        ({"monthly_usd": 5, "forecast_percent": 0}, r"budgets\.forecast_percent"),
        ({"monthly_usd": 5, "owners": {"ana": -1}}, r"budgets\.owners"),
        ({"monthly_usd": 5, "owners": {"a*b": 1}}, r"budgets\.owner.*cannot be the value of a tag"),
        ({"monthly_usd": 5, "approvers": ["ada"]}, r"budgets\.approvers\[0\]"),
        ({"monthly_usd": 5, "per_day": 1}, r"budgets\.per_day"),
        ({"monthly_usd": 5, "stop": "auto"}, r"nothing stops there unasked"),
        ({"monthly_usd": 5, "stop": "ask"}, r"budgets\.approvers: stop: ask asks the approvers"),
    ],
)
def test_a_mistake_is_refused_and_says_where(tmp_path: Path, budgets: dict[str, Any], said: str) -> None:
    with pytest.raises(loader.EnvironmentFileError, match=said):
        loader.load_file(written(tmp_path, "prod", budgets))


def test_what_is_seldom_meant_is_told(tmp_path: Path) -> None:
    budgets = {"monthly_usd": 100, "owners": {"chat": 90, "nobody": 20}, "stop": "ask", "approvers": [ROLE]}
    found = {each.code: each for each in diagnose_budgets(loader.load_file(written(tmp_path, "prod", budgets)))}

    assert {code: each.severity for code, each in found.items()} == {
        "budget-owner-without-a-fleet": Severity.WARNING,
        "budget-owners-exceed": Severity.WARNING,
        "budget-stops-nothing": Severity.NOTE,
    }
    assert found["budget-owner-without-a-fleet"].path == "budgets.owners.nobody"
    assert "110.00 USD together, and the environment 100.00" in str(found["budget-owners-exceed"])
