"""One examination of an account: whose it is; then every check side by side, and no finding twice."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Final

from cli.account import NO_CREDENTIALS, NOT_TAKEN
from cli.doctor.account import NO_ANSWER, DoctorAccount, UnansweredError
from cli.doctor.checks import OF_ENVIRONMENT, OF_FLEET
from cli.doctor.visit import Visit
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
