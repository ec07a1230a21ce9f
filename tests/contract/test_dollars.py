"""Every dollar that a person reads names its price's kind and its date; who writes one some other way is found here."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from fleet import metrics, naming
from fleet.instances import PriceKind
from tests.support.watching import ENVIRONMENTS, dashboards, watched

ROOT = Path(__file__).parents[2]
# Where words for people are made.
ROOMS = ("cli", "lambdas", "dashboards", "fleet", "workload", "agents", "planning", "environments")
WRITER = "fleet/prices/wording.py"
# These write bare figures (``amount``, or ``dollars`` of the command line) beside their basis. Whoever joins this list
# shows, in a test of this file or of its own room, that kind and date stand there too.
BESIDE_THEIR_BASIS = {
    "cli/budget.py": "tests/unit/cli/test_budget.py",
    "cli/capacity.py": "tests/unit/cli/test_capacity.py",
    "cli/jobs/submit.py": "tests/unit/cli/test_jobs_submit.py",
    "cli/jobs/show.py": "tests/unit/cli/test_jobs_running.py",
    "cli/bench/command.py": "tests/unit/cli/test_bench.py",
    "cli/ledger/command.py": "tests/unit/cli/test_ledger.py",
    "cli/plan/breakeven.py": "tests/contract/test_dollars.py",
    "cli/plan/compare.py": "tests/contract/test_dollars.py",
    "cli/plan/cost.py": "tests/unit/cli/test_plan_cost.py",
    "cli/figures.py": "tests/contract/test_dollars.py",
    "cli/plan/size_answer.py": "tests/contract/test_dollars.py",
    "cli/prices/command.py": "tests/unit/local/emulator/test_prices.py",
    "environments/month_shape.py": "tests/unit/environments/test_cloudwatch_budget.py",
    "fleet/hosting/surcharge.py": "tests/unit/fleet/hosting/test_hosting.py",
    "planning/assessment/page.py": "tests/unit/cli/test_plan_assess.py",
    "planning/sources/page.py": "tests/unit/cli/test_source_figures.py",
    "environments/alarm_linter/quotas.py": "tests/unit/environments/alarm_linter",
    "fleet/budgets/wording.py": "tests/unit/fleet/budgets/test_waste.py",
    "lambdas/capacity_blocks/reports.py": "tests/unit/lambdas/capacity_blocks/test_tickets_and_usage.py",
    "lambdas/pager/capacity.py": "tests/unit/lambdas/pager/test_capacity_pages.py",
    "lambdas/pager/page_text.py": "tests/unit/lambdas/pager/test_page_text.py",
}
# A mistake that is refused says which figures were typed, a threshold is nobody's price, and a diagnostic or a problem
# of the price table says kind and date itself.
REFUSALS = {
    "environments/budget_rules.py",
    "fleet/alarms/contributors/jobs.py",
    "fleet/alarms/utilization.py",
    "planning/breakeven.py",
    "planning/preflight/costs.py",
    "fleet/prices/record.py",
    "lambdas/prices/price_list.py",
}
KIND = re.compile("|".join([*PriceKind, "by hand", "as given", "fee"]))
DAY = re.compile(r"\b20\d\d-\d\d(-\d\d)?\b")


def sources() -> Iterator[tuple[str, ast.Module]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def writes_dollars(text: ast.JoinedStr) -> bool:
    """Whether a figure follows a dollar sign: f"${...}"."""
    pairs = zip(text.values, text.values[1:], strict=False)
    return any(
        isinstance(before, ast.Constant) and str(before.value).endswith("$") and isinstance(after, ast.FormattedValue)
        for before, after in pairs
    )


def is_figure(text: ast.JoinedStr) -> bool:
    """Whether the figure is formatted here, and not by ``amount``: f"{usd:,.2f}"."""
    for part in text.values:
        if not isinstance(part, ast.FormattedValue) or part.format_spec is None:
            continue
        if "usd" in ast.unparse(part.value).lower():
            return True
    return False


def calls(tree: ast.Module, *names: str) -> bool:
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names for node in ast.walk(tree)
    )


def test_dollars_are_written_in_one_place() -> None:
    strays = {
        f"{path}:{node.lineno}"
        for path, tree in sources()
        if path != WRITER and path not in REFUSALS
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr) and (is_figure(node) or (writes_dollars(node) and not _by_amount(node)))
    }
    # A price by the core-hour has four places; its column's title and its table's say the rest.
    strays = {each for each in strays if not each.startswith("cli/capacity.py")}

    assert strays == set(), "write them with fleet.prices.wording, which asks for the price's kind and date"


def _by_amount(text: ast.JoinedStr) -> bool:
    parts = [part.value for part in text.values if isinstance(part, ast.FormattedValue)]
    return any(
        ast.unparse(part).startswith(("amount(", "dollars(", "small_amount(", "wording.amount(")) or _is_rate(part)
        for part in parts
    )


def _is_rate(part: ast.expr) -> bool:
    # A variable that holds a figure that was written already.
    return isinstance(part, ast.Name) and part.id == "rate"


def test_who_writes_bare_figures_is_known_and_shows_their_basis() -> None:
    bare = {path for path, tree in sources() if path != WRITER and calls(tree, "amount", "dollars", "small_amount")}

    assert bare - {"cli/figures.py"} == set(BESIDE_THEIR_BASIS) - {"cli/figures.py"}
    assert all((ROOT / test).exists() for test in BESIDE_THEIR_BASIS.values())


def run(*arguments: str) -> str:
    answer = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "220"})
    assert answer.exit_code == 0, answer.output
    return answer.stdout


OPTIONS = (
    "--option",
    "name=a,type=inf2.48xlarge,throughput=550",
    "--option",
    "name=b,throughput=800,price=32.77,source=A",
)
SIZE = ("plan", "size", "--params", "7B", "--layers", "32", "--hidden", "4096", "--heads", "32")


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "compare", *OPTIONS),
        ("plan", "breakeven", "--migration", "100000", "--before", "184320", "--after", "148608"),
        SIZE,
    ],
)
def test_every_table_of_a_plan_names_kind_and_date(arguments: tuple[str, ...]) -> None:
    told = run(*arguments)

    assert re.search(r"\$|\d+\.\d\d", told)
    assert KIND.search(told)
    assert DAY.search(told)


def prices(content: Any) -> Iterator[dict[str, Any]]:
    """Every object in ``content`` that holds dollars an hour."""
    if isinstance(content, dict):
        if any(key.startswith("usd_per_hour") and value is not None for key, value in content.items()):
            yield content
        for value in content.values():
            yield from prices(value)
    elif isinstance(content, list):
        for value in content:
            yield from prices(value)


@pytest.mark.parametrize("arguments", [("plan", "compare", *OPTIONS), SIZE])
def test_every_price_in_json_has_a_basis(arguments: tuple[str, ...]) -> None:
    found = list(prices(json.loads(run(*arguments, "--json"))))

    assert found
    for each in found:
        text = json.dumps({key: each[key] for key in ("price", "prices", "kind", "as_of") if key in each})
        assert KIND.search(text), each
        assert DAY.search(text), each


MONEY = {name for name in metrics.CATALOGUE if "Usd" in name}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_dashboard_with_dollars_says_of_every_fleet_what_they_are_counted_at(name: str) -> None:
    environment = watched(name).environment
    with_money = {
        audience: body
        for audience, body in dashboards(watched(name)).items()
        if any(m in json.dumps(body) for m in MONEY)
    }

    assert {"operator", "capacity-and-cost"} <= set(with_money)
    for audience, body in with_money.items():
        told = "\n".join(w["properties"]["markdown"] for w in body["widgets"] if w["type"] == "text")
        named = [fleet for fleet in environment.fleets if naming.endpoint_audience(fleet.name) == audience]
        for fleet in named or environment.fleets:
            line = re.search(rf"\*\*{fleet.name}\*\*: ([^·]*)", told)
            assert line is not None, fleet.name
            assert (KIND.search(line[1]) and DAY.search(line[1])) or "no price is known" in line[1]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_log_table_with_dollars_has_the_kind_and_date_of_the_price(name: str) -> None:
    queries = [
        w["properties"]["query"] for b in dashboards(watched(name)).values() for w in b["widgets"] if w["type"] == "log"
    ]
    with_money = [query for query in queries if "usd_per_hour" in query]

    assert len(with_money) >= 2
    assert all("latest(price.kind)" in query and "latest(price.as_of)" in query for query in with_money)
