"""`fleet plan cost`: what an environment costs in a month, and what changes against another file."""

from collections.abc import Mapping
from typing import Annotated

import typer

from cli.answers import complain, refuse
from cli.figures import today
from cli.named import NAME_HELP, Name
from cli.plan.cost import answer
from cli.prices.reading import PRICES_HELP, of_environment
from environments import loader
from environments.loader import EnvironmentFileError
from environments.month_shape import month_shape
from fleet.instances import Price
from planning.money import PlanError
from planning.month.bill import Month, month_of
from planning.month.line import Spread
from planning.month.shape import Use


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
    answer.show(month, before, as_json=as_json)


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
