"""`fleet doctor`: what is wrong in the account of an environment, and what would put it right.

One examination asks whose account it is, then makes every check side by side, and tells no finding twice.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Final

import typer

from cli.account import NO_CREDENTIALS, NOT_TAKEN
from cli.answers import print_json, say
from cli.doctor.account import NO_ANSWER, DoctorAccount, UnansweredError
from cli.doctor.checks import OF_ENVIRONMENT, OF_FLEET
from cli.doctor.visit import Visit
from cli.named import Name, file_of
from cli.progress import waiting
from environments import loader
from environments.model import Environment
from fleet.diagnostics import Diagnostic, Severity
from planning.preflight.account import diagnose_identity, no_answer, no_credentials, not_understood

# The most calls under way at once: EC2 throttles Describe calls of an account and region.
_THREADS: Final = 12
_ORDER: Final = tuple(Severity)


def examine(environment: Environment, account: DoctorAccount, now: datetime) -> list[Diagnostic]:
    """Everything that is to be said about the account, errors first, once ``identity`` has found nothing."""
    with ThreadPoolExecutor(_THREADS) as pool:
        visit = Visit.begin(environment, account, now, pool)
        looks: list[Callable[[], Iterable[Diagnostic]]] = [partial(check, visit) for check in OF_ENVIRONMENT.values()]
        under_way = [pool.submit(_found, look, "") for look in looks]
        for entry in visit.entries:
            for of_fleet in OF_FLEET.values():
                under_way.append(pool.submit(_found, partial(of_fleet, visit, entry), entry.path))
        return in_order(finding for future in under_way for finding in future.result())


def identity(environment: Environment, account: DoctorAccount) -> list[Diagnostic]:
    """Errors when the person's credentials are not of the environment's account; nothing when they are.

    Then nothing else needs to be asked: the answers would be about something else.
    """
    try:
        seen = account.sts.get_caller_identity()
    except UnansweredError as error:
        if error.code == NO_CREDENTIALS or error.code in NOT_TAKEN:
            return [no_credentials(error.message)]
        if error.code == NO_ANSWER:
            return [no_answer("region", environment.region, error.message)]
        return [error.finding]
    return list(diagnose_identity(environment.account, seen["Account"], seen.get("Arn", "")))


def in_order(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors, warnings, notes; what is said of one place and value with one code is said once."""
    found: dict[tuple[str, str, str], Diagnostic] = {}
    for finding in sorted(findings, key=lambda each: _ORDER.index(each.severity)):
        found.setdefault((finding.code, finding.path, finding.value), finding)
    return list(found.values())


def _found(look: Callable[[], Iterable[Diagnostic]], path: str) -> list[Diagnostic]:
    """What a check finds, up to where AWS did not answer it; ``path`` is where its paths begin in the file."""
    found: list[Diagnostic] = []
    try:
        for finding in look():
            found.append(finding.under(path) if path else finding)
    except UnansweredError as error:
        found.append(error.finding)
    except (LookupError, TypeError, ValueError) as error:
        found.append(not_understood("AWS", f"the answer is not as documented ({type(error).__name__}: {error})"))
    return found


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
