"""`fleet plan breakeven`: how many runs and months until a migration has paid for itself."""

from dataclasses import asdict
from typing import Annotated

import typer

from cli.answers import print_json, refuse, say
from cli.figures import dollars, today
from cli.tables import Table, print_table
from planning.breakeven import COST_FACTORS, SAVING_FACTORS, Breakeven, Migration
from planning.breakeven import breakeven as work_out
from planning.money import PlanError


def breakeven(
    migration: Annotated[float, typer.Option(help="$ that the migration costs, once.")],
    before: Annotated[float, typer.Option(help="$ of a run before it, as `fleet plan compare` shows it.")],
    after: Annotated[float, typer.Option(help="$ of a run after it.")],
    per_month: Annotated[float, typer.Option(help="Runs a month.")] = 1,
    run: Annotated[str, typer.Option(help="What a run is: a training run, a million requests, a month.")] = "run",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say when savings equal what a migration costs, and how that moves. Money is not discounted."""
    try:
        asked = Migration(migration, before, after, per_month)
        answer = work_out(asked)
    except PlanError as error:
        refuse(error)
    if as_json:
        print_json({"run": run, **asdict(asked), **asdict(answer)})
        return
    _show(asked, answer, run)


def _show(asked: Migration, answer: Breakeven, run: str) -> None:
    say(
        f"${dollars(answer.saving_usd_per_run)} saved per {run} ({answer.saving_percent:.1f} %), "
        f"${dollars(answer.saving_usd_per_year)} a year at {asked.runs_per_month:g} a month."
    )
    point = answer.answer
    say(
        f"${dollars(asked.usd)} is paid for after {point.exact_runs:.2f} of them: with number {point.runs}, "
        f"in {point.months:.1f} months."
    )
    table = Table(
        "migration", *(f"saving x {factor:g}" for factor in SAVING_FACTORS), title="Months and runs to break even"
    )
    for cost in COST_FACTORS:
        row = [each for each in answer.sensitivity if each.cost_factor == cost]
        table.add_row(f"${dollars(asked.usd * cost)}", *(f"{each.months:.1f} / {each.runs}" for each in row))
    print_table(table)
    say(f"All dollars: as given, {today()}.")
