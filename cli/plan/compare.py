"""`fleet plan compare`: what measured options cost, at the prices of a document and at those of today."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from cli.answers import print_json, refuse
from cli.figures import dollars
from cli.named import known_region
from cli.plan.option_text import read_options
from cli.prices.reading import PRICES_HELP, of_environment
from cli.tables import Table, print_table
from planning.compare import Comparison, Outcome, Target
from planning.compare import compare as work_out
from planning.document_prices import DOCUMENTS, document_prices
from planning.money import PlanError

_OPTION_HELP = (
    "Key=value,...: name, type, instances, throughput (units a second of all instances together), hours or days (of a "
    "run), price ($ an hour of an instance) with source, market, region; bench, a file of fleet bench "
    "endpoint --json, in place of type, instances and throughput; or usd, a plain sum. Options of one name are "
    "phases and add up."
)


def compare(  # noqa: PLR0913, PLR0917 (one for each option)
    option: Annotated[list[str], typer.Option(help=_OPTION_HELP)],
    units: Annotated[float | None, typer.Option(help="Tokens or samples of one run.")] = None,
    rate: Annotated[float | None, typer.Option(help="Units a second that a fleet has to deliver.")] = None,
    unit: Annotated[str, typer.Option(help="What throughput counts.")] = "tokens",
    month_hours: Annotated[float, typer.Option(help="Hours of a month: 730, or 720 for 30 days.")] = 730,
    region: Annotated[str, typer.Option(callback=known_region, help="Of catalogue prices.")] = "us-east-2",
    document: Annotated[
        str | None, typer.Option(help=f"Prices of a source document beside today's: {', '.join(DOCUMENTS)}.")
    ] = None,
    prices: Annotated[str | None, typer.Option(help=PRICES_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare options by what they cost."""
    target = Target(units, rate, month_hours)
    try:
        quoted = None if document is None else document_prices(document)
        answer = work_out(read_options(option, region, quoted, of_environment(prices)), target)
    except PlanError as error:
        refuse(error)
    if as_json:
        content = {"unit": unit, **asdict(target), **asdict(answer)}
        print_json(content)
        return
    _show(answer, target, unit)


def _show(answer: Comparison, target: Target, unit: str) -> None:
    print_table(_table("At the prices given", answer.given, target, unit))
    if answer.today:
        print_table(_table("At the prices of the catalogue", answer.today, target, unit))


def _table(title: str, outcomes: Sequence[Outcome], target: Target, unit: str) -> Table:
    table = Table("", *(each.option for each in outcomes), title=title)
    rows: dict[str, Callable[[Outcome], str]] = {
        "$/h": lambda each: dollars(each.usd_per_hour),
        f"$/month of {target.hours_per_month:g} h": lambda each: dollars(each.usd_per_month),
        f"$/1M {unit}": lambda each: dollars(each.usd_per_million_units),
        "run, h": lambda each: "-" if each.run_hours is None else f"{each.run_hours:,.1f}",
        "run, $": lambda each: dollars(each.run_usd),
        "fleet, instances": lambda each: "-" if each.fleet_instances is None else str(each.fleet_instances),
        "fleet, $/h": lambda each: dollars(each.fleet_usd_per_hour),
        "saves": lambda each: "-" if each.saving_percent is None else f"{each.saving_percent:.1f} %",
        "price": lambda each: "\n".join(each.prices) or "a plain sum",
    }
    for name, cell in rows.items():
        table.add_row(name, *(cell(each) for each in outcomes))
    return table
