"""Waiting for the graphs that a job needs, for as long as somebody compiles them."""

from collections.abc import Callable

from cli.account import Account
from cli.answers import complain
from cli.cache import compiled, runs
from cli.jobs.request import GRAPHS_NOT_READY, Prepared


def until_compiled(
    prepared: Prepared, again: Callable[[], Prepared], say: Callable[[str], None], seconds: float
) -> Prepared:
    """``prepared``, or what ``again`` prepares once the precompilation that runs is over, looked at every ``seconds``.

    Only graphs are waited for, and only while an execution compiles them: nobody would end the wait otherwise.

    Raises:
        AwsError: AWS does not say how it goes on.
    """
    environment, artifact = prepared.environment, prepared.artifact
    if environment is None or artifact is None or {each.code for each in prepared.errors} != {GRAPHS_NOT_READY}:
        return prepared
    account = Account(environment.region)
    run = compiled.being_made(account, environment, artifact)
    if run is None:
        # It may have ended between the two looks.
        return again()
    say(f"waits for {run.name}, which compiles the job's graphs since {run.started:%Y-%m-%d %H:%M} UTC")
    ended = runs.follow(account, run.arn, lambda _: None, seconds)
    if ended.status != runs.SUCCEEDED:
        complain(f"{ended.name}: {ended.status.lower()}: {ended.cause or 'without a cause'}")
    return again()
