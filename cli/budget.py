"""`fleet budget status|approve|resume ENV`, over the deployed function that watches budgets."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer
from botocore.exceptions import BotoCoreError, ClientError

from cli.account import AwsError, explained
from cli.answers import say
from cli.block_engine import signed_url
from cli.functions import FunctionFailedError, call
from cli.named import Name, answering
from cli.tables import Table, print_table
from environments.model import Environment
from fleet import naming
from fleet.approval import BUDGET, binding
from fleet.prices.wording import amount

# It has three minutes. A decision whose answer is lost is looked up with `status`, and not repeated.
_SECONDS: Final = 190.0


def ask(environment: Environment, action: str, *, signed: bool = False) -> dict[str, Any]:
    """What the function answers: ``budgets``, ``stop``, ``closed``, ``may_stop``.

    Raises:
        AwsError: it is not deployed, does not answer, or refuses.
    """
    name = naming.budgets_function(environment.name)
    payload = {"action": action}
    try:
        if signed:
            payload["signed_url"] = signed_url(environment.region, binding(environment.name, action, BUDGET))
        content = call(environment, name, payload, _SECONDS)
    except (BotoCoreError, ClientError) as error:
        raise explained(error, "sts:GetCallerIdentity", environment.region) from error
    except FunctionFailedError as error:
        raise AwsError(f"{name} failed: {error}") from error
    if "refused" in content:
        raise AwsError(f"refused: {content['refused']}")
    return content


app = typer.Typer(help="Budgets: status, approve a stop, resume.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def status(environment: Name, as_json: AsJson = False) -> None:
    """Show what the month has cost so far, what it comes to at the present rate, and whether anything is stopped."""
    with answering(environment) as named:
        content = ask(named, "status")
    _show(content, as_json=as_json)


@app.command()
def approve(environment: Name, as_json: AsJson = False) -> None:
    """Stop on-demand and Spot training for the rest of the month. Only those in budgets.approvers may."""
    _decide(environment, "approve", as_json=as_json)


@app.command()
def resume(environment: Name, as_json: AsJson = False) -> None:
    """Go on until the month ends, stopped or only asked. Only those in budgets.approvers may."""
    _decide(environment, "resume", as_json=as_json)


def _decide(environment: str, action: str, *, as_json: bool) -> None:
    with answering(environment) as named:
        content = ask(named, action, signed=True)
    _show(content, as_json=as_json)


def _show(content: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(content, indent=2))
        return
    print_table(_table(content["budgets"]))
    for row in content["budgets"]:
        for lack in _lacks(row):
            say(f"{row['owner'] or 'all owners'}: {lack}")
    say(_stop(content))


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    prices = list(dict.fromkeys(tuple(price) for row in rows for price in row["prices"]))
    told = "; ".join(f"[{n}] {kind}, as of {as_of}" for n, (kind, as_of) in enumerate(prices, start=1))
    title = "USD of the month, nodes and reservations by the ledger"
    table = Table(title=title, caption=f"prices: {told or 'none is known'}", caption_justify="left")
    table.add_column("owner")
    for name in ("budget", "spent", "an hour", "forecast", "of budget"):
        table.add_column(name, justify="right")
    table.add_column("price")
    for row in rows:
        percent = row["forecast_percent"]
        table.add_row(
            row["owner"] or "all",
            *(amount(row[name]) for name in ("budget_usd", "spent_usd", "rate_usd_per_hour", "forecast_usd")),
            "-" if percent is None else f"{percent:.0f} %",
            " ".join(f"[{prices.index(tuple(price)) + 1}]" for price in row["prices"]) or "-",
        )
    return table


def _lacks(row: Mapping[str, Any]) -> list[str]:
    lacks = []
    if row["days_missing"]:
        days = row["days_missing"]
        lacks.append(f"at least, for {len(days)} days have no ledger, the first of them {days[0]}")
    if row["unpriced_node_hours"]:
        lacks.append(f"at least, for {row['unpriced_node_hours']:,.1f} node-hours have no known price")
    return lacks


def _stop(content: Mapping[str, Any]) -> str:
    stop, fleets = content["stop"], ", ".join(content["may_stop"])
    if stop is None:
        return "Nothing is ever stopped: the file says stop: never, or everything is paid for in advance or serves."
    who = f" by {stop['by']}" if stop["by"] else ""
    since = f" since {stop['since']}{who}" if stop["since"] else ""
    closed = f"; closed: {', '.join(content['closed'])}" if content["closed"] else ""
    return f"Stop of {stop['month']}: {stop['standing']}{since}{closed}. It could close: {fleets}."
