"""`fleet plan cost`: what an environment costs in a month, and what changes against another file.

The answer is JSON with every line, or tables for people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from cli.answers import complain, print_json, refuse, say
from cli.figures import dollars, today
from cli.named import NAME_HELP, Name
from cli.prices.table import PRICES_HELP, of_environment
from cli.tables import Column, Table, print_table
from environments import loader
from environments.loader import EnvironmentFileError
from environments.month_shape import month_shape
from fleet.instances import Price
from fleet.prices.wording import small_amount
from planning.money import PlanError
from planning.month.bill import Change, Month, changes, month_of
from planning.month.design_budgets import DESIGN_BUDGETS
from planning.month.line import Group, Line, Spread
from planning.month.shape import Use

# "jobs' and functions' logs" breaks between words in a narrow terminal.
_NAME_WIDTH: Final = 16


def show(month: Month, before: Month | None, *, as_json: bool) -> None:
    """Print ``month``, and what changes from ``before``."""
    moved = changes(before, month) if before else None
    if as_json:
        content = as_content(month, before, moved)
        print_json(content)
        return
    print_table(_lines(month))
    print_table(_bases(month))
    if before is not None and moved is not None:
        print_table(_changes(before, month, moved))
    for missing in month.not_priced:
        say(f"not priced: {missing.what}: {missing.why}")
    for note in month.notes:
        say(f"note: {note}")
    say(_budget(month))
    for budget in DESIGN_BUDGETS:
        say(
            f"design budget for metrics and node events, {budget.nodes:,} trn1.32xlarge in {budget.jobs} jobs: "
            f"${dollars(budget.expected_usd)} of ${dollars(budget.usd)}; ${dollars(budget.with_workload_usd)} when "
            f"every job reports tokens and loss; PutMetricData is ${dollars(budget.requests_usd)} besides"
        )


def as_content(month: Month, before: Month | None, moved: Sequence[Change] | None) -> dict[str, Any]:
    """Everything, for JSON."""
    content = {
        "environment": month.environment,
        "hours": 730,
        "lines": [asdict(line) for line in month.lines],
        "groups": {group: asdict(month.usd(group)) for group in Group},
        "usd": asdict(month.usd()),
        "not_priced": [asdict(each) for each in month.not_priced],
        "notes": month.notes,
        "cloudwatch_budget": {
            "usd": month.cloudwatch_budget_usd,
            "is_over": month.is_over_cloudwatch_budget,
        },
        "design_budgets": [
            {
                **asdict(budget),
                "expected_usd": budget.expected_usd,
                "with_workload_usd": budget.with_workload_usd,
                "requests_usd": budget.requests_usd,
            }
            for budget in DESIGN_BUDGETS
        ],
    }
    if before is None or moved is None:
        return content
    difference = asdict(month.usd() - before.usd())
    against = {"environment": before.environment, "usd": asdict(before.usd()), "difference": difference}
    return {**content, "against": {**against, "changes": [{**asdict(each), "usd": asdict(each.usd)} for each in moved]}}


def _lines(month: Month) -> Table:
    table = Table(
        Column("", min_width=_NAME_WIDTH),
        "quantity x $",
        *(Column(name, justify="right", no_wrap=True) for name in ("low", "expected", "high")),
        title=f"{month.environment}: $ in a month of 730 hours",
    )
    for group, lines in _by_group(month):
        table.add_section()
        table.add_row(Text(group, style="bold"), "", *_amounts(month.usd(group)))
        for line in lines:
            quantity = f"{_quantity(line.quantity.expected)} {line.unit} x {small_amount(line.unit_usd)}"
            table.add_row(line.what, quantity, *_amounts(line.usd))
    table.add_section()
    table.add_row(Text("all that is priced", style="bold"), "", *_amounts(month.usd()))
    return table


def _bases(month: Month) -> Table:
    table = Table(Column("", min_width=_NAME_WIDTH), "price", "what the quantity rests on: low, expected, high")
    for _, lines in _by_group(month):
        table.add_section()
        for line in lines:
            table.add_row(line.what, line.price, line.because)
    return table


def _by_group(month: Month) -> list[tuple[Group, list[Line]]]:
    groups = [(group, [line for line in month.lines if line.group is group]) for group in Group]
    return [(group, lines) for group, lines in groups if lines]


def _changes(before: Month, month: Month, moved: Sequence[Change]) -> Table:
    table = Table(
        "",
        *(Column(name, justify="right", no_wrap=True) for name in ("before", "after", "change")),
        title=f"{before.environment} to {month.environment}: $ expected in a month",
    )
    for change in moved:
        table.add_row(f"{change.group}, {change.what}", *_moved(change.before, change.after, change.usd))
    table.add_section()
    total = _moved(before.usd(), month.usd(), month.usd() - before.usd())
    table.add_row(Text("all that is priced", style="bold"), *total)
    return table


def _moved(before: Spread | None, after: Spread | None, by: Spread) -> tuple[str, str, str]:
    figures = (None if each is None else each.expected for each in (before, after))
    old, new = (dollars(figure) for figure in figures)
    return old, new, f"{by.expected:+,.2f}"


def _amounts(spread: Spread) -> tuple[str, str, str]:
    return dollars(spread.low), dollars(spread.expected), dollars(spread.high)


def _quantity(quantity: float) -> str:
    return f"{quantity:,.0f}" if quantity >= 1_000 else f"{quantity:,.4g}"


def _budget(month: Month) -> str:
    expected, budget = month.usd(Group.CLOUDWATCH).expected, month.cloudwatch_budget_usd
    if budget is None:
        return f"CloudWatch: ${dollars(expected)} expected; monitoring.cloudwatch_usd_per_month would set a budget"
    verdict = "over its budget" if month.is_over_cloudwatch_budget else "within its budget"
    return f"CloudWatch: ${dollars(expected)} expected, {verdict} of ${dollars(budget)}"


def cost(
    environment: Name,
    against: Annotated[str | None, typer.Option(help=f"{NAME_HELP} Show what changes from it.")] = None,
    use: Annotated[
        str, typer.Option(help="Low, expected and high share of the month in which nodes run that scale to zero.")
    ] = "0.3,0.7,1",
    prices: Annotated[str | None, typer.Option(help=PRICES_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Work out a month of 730 hours: low, expected and high, line by line, each with its price's source and date."""
    try:
        running = _use(use)
    except PlanError as error:
        refuse(error)
    refreshed = of_environment(prices)
    month = _month(environment, running, refreshed)
    before = _month(against, running, refreshed) if against else None
    show(month, before, as_json=as_json)


def _month(environment: str, use: Use, refreshed: Mapping[str, tuple[Price, ...]]) -> Month:
    try:
        return month_of(month_shape(loader.load(environment), refreshed), use, today())
    except EnvironmentFileError as error:
        for line in str(error).splitlines():
            complain(line)
        raise typer.Exit(1) from None


def _use(text: str) -> Use:
    try:
        low, expected, high = (float(part) for part in text.split(","))
    except ValueError:
        raise PlanError(f"use is {text!r}; give low,expected,high as three numbers, as 0.3,0.7,1") from None
    return Use(Spread(low, expected, high))
