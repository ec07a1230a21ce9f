"""`fleet page` and its one command: a page that says it is a test, all the way, and what became of it."""

import time
from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from cli.account import Account
from cli.answers import print_json, refuse
from cli.named import Name, answering
from cli.page.sent import SentPage, results_of, send
from cli.progress import waiting
from cli.tables import Table, print_table
from local.alarm_evaluation import State

app = typer.Typer(help="Whether pages arrive.", no_args_is_help=True)


@app.callback()
def page() -> None:
    """Whether pages arrive."""


@app.command(name="test")
def try_out(
    environment: Name,
    severity: Annotated[
        Literal["page", "ticket"], typer.Option(help="A page wakes people, a ticket does not.")
    ] = "page",
    seconds: Annotated[float, typer.Option("--wait", min=1, max=900, help="Seconds to wait for each answer.")] = 60.0,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Send a page marked TEST as an alarm would, see what each destination did with it, and resolve it."""
    with answering(environment) as named:
        account = Account(named.region)
        told = {}
        for state, before in ((State.ALARM, State.OK), (State.OK, State.ALARM)):
            page = send(account, named, severity, state, before, datetime.now(UTC))
            told[state] = _answer(account, page, seconds)
            if told[state] is None and state is State.ALARM:
                break
    raised, resolved = told[State.ALARM], told.get(State.OK)
    if json_:
        print_json({"severity": severity, "trigger": raised, "resolve": resolved})
    elif raised is not None:
        print_table(_table(raised, resolved))
    if raised is None or (resolved is None and raised):
        what = "test page" if raised is None else "resolve of the test page"
        refuse(f"the pager said nothing of the {what} within {seconds:g} s: read its log and its waiting queue")
    if not raised:
        refuse(f"no route of {environment} leads a {severity} anywhere")
    if any(raised.values()) or any((resolved or {}).values()):
        refuse("not every destination took it; what failed is tried again for some hours")


def _answer(account: Account, page: SentPage, seconds: float) -> dict[str, str] | None:
    """By destination "" or what went wrong; None when nothing was heard in time."""
    end = time.monotonic() + seconds
    with waiting("waiting for what the destinations say"):
        while (results := results_of(account, page)) is None and time.monotonic() < end:
            time.sleep(1)
    return results


def _table(raised: dict[str, str], resolved: dict[str, str] | None) -> Table:
    table = Table("destination", "page", "resolve")
    for name, problem in raised.items():
        ended = "nothing was heard" if resolved is None else resolved.get(name, "not told, for the page was not")
        table.add_row(name, problem or "taken", ended or "taken")
    return table
