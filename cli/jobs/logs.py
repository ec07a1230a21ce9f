"""`fleet jobs logs`: what one node of a job wrote, and what it writes."""

import time
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
import typer

from cli.account import Account
from cli.answers import refuse
from cli.jobs.found import Found, Wanted
from cli.jobs.job_lookup import again, find, nodes_of
from cli.named import Name, answering
from environments.model import Environment
from fleet import naming

_POLL_SECONDS: Final = 3.0
_NO_STREAM: Final = ("ResourceNotFoundException",)


def logs(
    environment: Name,
    job: Wanted,
    node: Annotated[int, typer.Option(min=0, help="Which node; 0 is the main one.")] = 0,
    lines: Annotated[int, typer.Option(min=1, max=10_000, help="So many of the newest.")] = 200,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job ends.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print each line as JSON, with its time.")] = False,
) -> None:
    """Print what a node's container wrote, the newest attempt's."""
    with answering(environment) as named:
        account = Account(named.region)
        found = find(account, named, job)
        if node >= found.job.nodes:
            refuse(f"{found.name} has {found.job.nodes} nodes, the last of which is {found.job.nodes - 1}")
        written = 0
        for event in _events(account, named, found, node, lines, follow=follow):
            written += 1
            typer.echo(msgspec.json.encode(event).decode() if json_ else event["message"])
        if not written and not follow:
            refuse(f"node {node} of {found.name} wrote nothing yet: it is {found.status}")


def _events(
    account: Account, environment: Environment, found: Found, node: int, lines: int, *, follow: bool
) -> Iterator[dict[str, Any]]:
    stream, token = "", ""
    while True:
        # Looked at before the log, so that what is written until the end is read after it.
        found = again(account, environment, found)
        newest = next((each.log_stream for each in nodes_of(account, found) if each.index == node), "")
        if newest != stream:
            stream, token = newest, ""
        if stream:
            group = naming.job_log_group(environment.name)
            events, token = _page(account, group, stream, token, lines)
            yield from events
        if found.is_over or not follow:
            return
        time.sleep(_POLL_SECONDS)


def _page(account: Account, group: str, stream: str, token: str, lines: int) -> tuple[list[dict[str, Any]], str]:
    """Without a token the newest lines; with one what came since then."""
    events: list[dict[str, Any]] = []
    while True:
        asked: dict[str, Any] = {"logGroupName": group, "logStreamName": stream}
        asked |= {"nextToken": token, "startFromHead": True} if token else {"startFromHead": False, "limit": lines}
        answer = account.find(_NO_STREAM, account.logs.get_log_events, **asked)
        if answer is None:
            return events, token
        events += [{"timestamp": each["timestamp"], "message": each["message"]} for each in answer["events"]]
        if not token or answer["nextForwardToken"] == token:
            return events, str(answer["nextForwardToken"])
        token = str(answer["nextForwardToken"])
