"""Who answers, and what could not be asked: findings about the account itself and about the way to it."""

from collections.abc import Iterator
from typing import Final

from fleet.diagnostics import Diagnostic, refuse, warn

REFUSED: Final = "not-understood"
"""The code of a finding about a call that AWS refused for a reason of its own."""


def no_credentials(why: str) -> Diagnostic:
    """Nobody to ask AWS as."""
    fix = "aws sso login, or set AWS_PROFILE"
    return refuse("no-credentials", "account", "", f"there are no credentials that AWS accepts: {why}", fix)


def diagnose_identity(wanted: str, account: str, arn: str) -> Iterator[Diagnostic]:
    """An error when the credentials belong to another account than the environment's."""
    if account != wanted:
        text = f"the credentials are of account {account} ({arn}), and the environment is in {wanted}"
        yield refuse("wrong-account", "account", wanted, text, f"use a profile of {wanted}: set AWS_PROFILE")


def no_answer(path: str, region: str, why: str) -> Diagnostic:
    """Nothing could be asked at all."""
    fix = "check the network, AWS_ENDPOINT_URL, and that the region is enabled for the account"
    return refuse("region-does-not-answer", path, region, f"AWS does not answer in {region}: {why}", fix)


def not_allowed(action: str) -> Diagnostic:
    """A permission is missing: what it would show was not checked."""
    text = f"these credentials may not call {action}: what it shows was not checked"
    return warn("not-allowed", "account", action, text, f"allow {action} to whoever runs this")


def not_answered(action: str, why: str) -> Diagnostic:
    """One service did not answer in time, or asked to be asked less often."""
    text = f"{action} was not answered: {why}; what it shows was not checked"
    return warn("not-answered", "account", action, text, "run it again; if it stays so, check the way to this service")


def not_understood(action: str, why: str) -> Diagnostic:
    """AWS refused, or answered something else than it documents."""
    text = f"{action} was refused: {why}; what it shows was not checked"
    return warn(REFUSED, "account", action, text, "see what AWS says about it")
