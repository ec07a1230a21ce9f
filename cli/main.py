"""The `fleet` command: what operators and authors of environment files type."""

from typing import Annotated, Final

import typer

from cli.lazy import Entry, LazyGroup
from fleet.version import VERSION

# The sentences are those of the commands' own help: to list them, nothing has to be imported.
ENTRIES: Final = (
    Entry(
        "validate",
        "cli.validate:validate",
        "Check an environment file: errors, warnings, notes. Exit code 1 when it holds an error.",
    ),
    Entry(
        "doctor",
        "cli.doctor.command:doctor",
        "Check an environment's file and account, before a deployment or after it. Nothing is changed.",
    ),
    Entry(
        "ledger",
        "cli.ledger.command:ledger",
        "Show what was paid for: by job, owner or fleet, with the price's kind and date, beside AWS's own bill.",
    ),
    Entry("capacity", "cli.capacity:app", "Capacity Blocks: search, request, approve, reject, list."),
    Entry(
        "plan",
        "cli.plan:app",
        "Size a model, price an environment, compare options, find a break-even, plan a migration. Offline.",
    ),
    Entry("jobs", "cli.jobs.command:app", "Training jobs: submit, list, show, logs, stop."),
    Entry("cache", "cli.cache.command:app", "Compiled graphs: status, warm, check, promote, purge."),
    Entry("prices", "cli.prices.command:app", "Prices: show, refresh, accept."),
    Entry("rollout", "cli.rollout.command:app", "New versions of endpoints: start, status, pause, resume, abort."),
    Entry("page", "cli.page.command:app", "Whether pages arrive."),
    Entry("bench", "cli.bench.command:app", "Load on an endpoint, and what it comes to."),
    Entry("budget", "cli.budget.command:app", "Budgets: status, approve a stop, resume."),
    Entry(
        "replay",
        "cli.replay.command:replay_scenarios",
        "Replay scenarios through the agent's pipeline and the alarms; exit 1 when a page is missed or false.",
    ),
    Entry("local", "cli.local:app", "The whole platform on this machine."),
    Entry("dashboards", "cli.dashboards:app", "The deployed dashboards."),
)


class _Commands(LazyGroup):
    entries = ENTRIES


app = typer.Typer(name="fleet", cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"fleet {VERSION}")
        raise typer.Exit


@app.callback()
def fleet(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Trainium and Inferentia fleets as code."""
