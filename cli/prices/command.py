"""`fleet prices`: what is kept of AWS's prices, have it asked for now, and believe a figure that was kept apart.

The deployed function reads AWS's price lists when it is asked to.
"""

import json
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final

import typer

from cli.account import Account, AwsError
from cli.answers import print_json, refuse, say
from cli.functions import FunctionFailedError, call
from cli.named import Name, answering
from cli.prices import table
from cli.tables import Table, print_table
from environments.model import Environment
from fleet import naming
from fleet.prices.age import staleness
from fleet.prices.record import PriceRecord, PriceRecordError, accept
from fleet.prices.wording import amount

# The function has five minutes.
_SECONDS: Final = 310.0


def refresh_now(environment: Environment) -> dict[str, Any]:
    """What the function answers: ``refreshed``, ``problems``, ``absent``.

    Raises:
        AwsError: it is not deployed, does not answer, or could refresh nothing.
    """
    try:
        return call(environment, naming.prices_function(environment.name), {}, _SECONDS)
    except FunctionFailedError as error:
        raise AwsError(f"nothing was refreshed: {error}") from error


app = typer.Typer(help="Prices: show, refresh, accept.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def show(environment: Name, as_json: AsJson = False) -> None:
    """List every price that is kept, its kind, its date, its source, and why it is not newer."""
    today = datetime.now(UTC).date()
    with answering(environment, "reading the prices") as named:
        kept = _kept(named)
    if as_json:
        content = [{"key": each.key, **asdict(each), "stale": staleness(each.price, today)} for each in kept]
        print_json(content)
        return
    if not kept:
        refuse(f"no price was refreshed yet: fleet prices refresh {named.name}")
    print_table(_table(kept, today))


@app.command()
def refresh(environment: Name, as_json: AsJson = False) -> None:
    """Have AWS's price lists read now rather than at the next daily refresh. Exit code 1 when nothing could be read."""
    with answering(environment) as named:
        content = refresh_now(named)
    if as_json:
        typer.echo(json.dumps(content, indent=2))
        return
    for problem in content["problems"]:
        say(f"not refreshed: {problem}")
    say(f"{len(content['refreshed'])} prices refreshed, {len(content['problems'])} problems")


@app.command(name="accept")
def accept_(environment: Name, key: Annotated[str, typer.Argument(help="As `fleet prices show` lists it.")]) -> None:
    """Count at a figure that was kept apart because it was far off the one before."""
    with answering(environment) as named:
        found = {record.key: record for record in _kept(named)}
        if key not in found:
            refuse(f"no price is kept under {key}")
        try:
            taken = accept(found[key])
        except PriceRecordError as error:
            refuse(error)
        table.keep(Account(named.region), named, taken)
    price = taken.price
    say(f"{key}: {amount(price.usd_per_hour)} USD/h, {price.kind}, {price.as_of}")


def _kept(environment: Environment) -> tuple[PriceRecord, ...]:
    try:
        kept = table.records(Account(environment.region), environment)
    except PriceRecordError as error:
        raise AwsError(f"the price table holds no price: {error}") from error
    if kept is None:
        raise AwsError(f"environment {environment.name} has no price table: cdk deploy -c env={environment.name} '**'")
    return kept


def _table(kept: tuple[PriceRecord, ...], today: date) -> Table:
    shown = Table("price", "$/h", "kind", "as of", "source", "before", "kept apart", "why not newer")
    for each in kept:
        price, before, held = each.price, each.previous, each.held
        old = staleness(price, today)
        cells = (
            each.key,
            amount(price.usd_per_hour),
            price.kind,
            f"{price.as_of}{f' STALE: {old}' if old else ''}",
            price.source,
            f"{amount(before.usd_per_hour)} of {before.as_of}" if before else "",
            f"{amount(held.usd_per_hour)} of {held.as_of}" if held else "",
            each.problem or "",
        )
        shown.add_row(*cells)
    return shown
