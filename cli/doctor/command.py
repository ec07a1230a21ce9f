"""`fleet doctor`: what is wrong in the account of an environment, and what would put it right."""

from collections import Counter
from datetime import UTC, datetime
from typing import Annotated

import typer

from cli.answers import print_json, say
from cli.doctor.account import DoctorAccount
from cli.doctor.checks import OF_ENVIRONMENT, OF_FLEET
from cli.doctor.examination import examine, identity, in_order
from cli.named import Name, file_of
from cli.progress import waiting
from environments import loader
from fleet.diagnostics import Diagnostic, Severity


def doctor(
    environment: Name,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as a JSON list.")] = False,
    on: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Judge dates as of this day, in UTC. Default: now.")
    ] = None,
) -> None:
    """Check an environment's file and account, before a deployment or after it. Nothing is changed.

    Exit code 1 when there is an error. Before the first deployment, what is not there yet is no error.
    """
    now = on.replace(tzinfo=UTC) if on else datetime.now(UTC)
    file = file_of(environment)
    found = loader.diagnose(file, now=now)
    checked: list[str] = ["the file"]
    if not any(diagnostic.is_error for diagnostic in found):
        named = loader.load_file(file)
        account = DoctorAccount(named.region)
        with waiting(f"asking account {named.account} in {named.region}"):
            strangers = identity(named, account)
            found = in_order([*found, *(strangers or examine(named, account, now))])
        checked += ["credentials"] if strangers else ["credentials", *OF_ENVIRONMENT, *OF_FLEET]
    if as_json:
        print_json(found)
    else:
        _print(file.stem, found, checked)
    if any(diagnostic.is_error for diagnostic in found):
        raise typer.Exit(1)


def _print(name: str, found: list[Diagnostic], checked: list[str]) -> None:
    for diagnostic in found:
        say(f"{name}: {diagnostic.severity}: {diagnostic} [{diagnostic.code}]")
    counts = Counter(diagnostic.severity for diagnostic in found)
    summary = ", ".join(f"{counts[severity]} {severity}{'s' * (counts[severity] != 1)}" for severity in Severity)
    say(f"{name}: {summary}; checked: {', '.join(checked)}")
