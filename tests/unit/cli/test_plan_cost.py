"""`fleet plan cost`: a month line by line, against another file, as text and as JSON; one line for a mistake."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from environments import loader

PROD, STAGING, DEV = (str(loader.FOLDER / f"{name}.yaml") for name in ("prod", "staging", "dev"))


def cost(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["plan", "cost", *arguments])


def content(*arguments: str) -> Any:
    answer = cost(*arguments, "--json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def test_production_costs_what_its_nodes_cost_and_a_little_more() -> None:
    found = content(PROD)

    # 16 x 730 x 21.50 reserved, 8 x 730 x 35.7608 in a block, 4 x 730 x 12.98127 that stay.
    assert found["groups"]["capacity"]["expected"] == pytest.approx(251_120 + 208_843.072 + 37_905.3084)
    assert found["usd"]["expected"] == pytest.approx(sum(line["usd"]["expected"] for line in found["lines"]))
    assert {line["group"] for line in found["lines"]} == {"capacity", "network", "storage", "functions", "cloudwatch"}
    assert found["cloudwatch_budget"] == {"usd": 150.0, "is_over": False}


def test_every_line_names_its_price_and_what_it_rests_on() -> None:
    for line in content(PROD)["lines"]:
        assert line["because"]
        assert line["price"].startswith(
            ("list price, us-east-1, ", "on-demand, us-east-2, ", "capacity-block, us-east-2, ")
        )
        if line["what"] != "metrics, by fleet and job":
            assert line["usd"]["expected"] == pytest.approx(line["quantity"]["expected"] * line["unit_usd"])


def test_a_fleet_is_counted_at_what_its_owner_has_agreed_on(tmp_path: Path) -> None:
    rate = "price: {usd_per_hour: 10, contract: EDP 2026, as_of: 2024-11-02}"
    text = Path(STAGING).read_text(encoding="utf-8")
    file = tmp_path / "staging.yaml"
    file.write_text(text.replace("market: {kind: spot}", f"market: {{kind: spot}}\n    {rate}"), encoding="utf-8")
    (line,) = (each for each in content(str(file))["lines"] if each["what"] == "trn1-spot")

    assert line["unit_usd"] == 10
    assert re.fullmatch(
        r"negotiated, us-east-2, 2024-11-02 \(EDP 2026\), STALE: \d+ days old, limit 366", line["price"]
    )


def test_the_difference_to_another_file_is_the_sum_of_what_changes() -> None:
    against = content(PROD, "--against", STAGING)["against"]

    assert against["environment"] == "staging"
    by_line = sum(change["usd"]["expected"] for change in against["changes"])
    assert against["difference"]["expected"] == pytest.approx(by_line)
    assert against["difference"]["expected"] == pytest.approx(
        content(PROD)["usd"]["expected"] - content(STAGING)["usd"]["expected"]
    )


def test_nothing_changes_against_itself() -> None:
    assert content(DEV, "--against", DEV)["against"]["changes"] == []


def test_use_moves_what_scales_to_zero_and_nothing_else() -> None:
    always, never = content(STAGING, "--use", "1,1,1"), content(STAGING, "--use", "0,0,0")

    # Two trn1.32xlarge come and go with their jobs, one inf2.8xlarge stays; so do four on Spot.
    spot = next(line["unit_usd"] for line in always["lines"] if "trn1-spot" in line["what"])
    assert always["groups"]["capacity"]["expected"] == pytest.approx(730 * (2 * 21.5 + 4 * spot + 1.96786))
    assert never["groups"]["capacity"]["high"] == pytest.approx(730 * 1.96786)


def test_the_text_names_prices_what_is_not_priced_and_the_budgets() -> None:
    told = cost(PROD, "--against", STAGING).stdout

    assert "prod: $ in a month of 730 hours" in told
    assert "on-demand, us-east-2, 2026-10-03 (AWS API)" in told
    assert "staging to prod: $ expected in a month" in told
    assert "not priced: ECR: images kept and pulled: no price with a source was found" in told
    assert re.search(r"CloudWatch: \$1\d\d\.\d\d expected, within its budget of \$150\.00", told)
    assert "128 trn1.32xlarge in 8 jobs: $57.78 of $60.00; $62.58 when" in told
    assert "2,000 trn1.32xlarge in 125 jobs: $706.56 of $720.00; $781.56 when" in told


def test_an_environment_over_its_budget_is_said_to_be(tmp_path: Path) -> None:
    file = tmp_path / "prod.yaml"
    file.write_text(Path(PROD).read_text().replace("per_month: 150", "per_month: 100"))

    assert re.search(r"CloudWatch: \$1\d\d\.\d\d expected, over its budget of \$100\.00", cost(str(file)).stdout)
    assert content(str(file))["cloudwatch_budget"]["is_over"]


def test_without_a_budget_the_key_for_one_is_named() -> None:
    assert "monitoring.cloudwatch_usd_per_month would set a budget" in cost(DEV).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.yaml",), "nowhere.yaml: there is no such file; pass a file, or one of dev, local, prod, staging"),
        (
            (DEV, "--against", "nowhere.yaml"),
            "nowhere.yaml: there is no such file; pass a file, or one of dev, local, prod, staging",
        ),
        ((DEV, "--use", "often"), "use is 'often'; give low,expected,high as three numbers, as 0.3,0.7,1"),
        ((DEV, "--use", "1,0.5,0"), "use is 1,0.5,0; give low,expected,high in that order, each from 0 to 1"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    answer = cost(*arguments)

    assert answer.exit_code == 1
    assert answer.stderr.startswith(message)
    assert answer.stderr.count("\n") == 1
