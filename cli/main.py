"""The `fleet` command: what operators and authors of environment files type.

Commands are imported when they are called, completed, or asked for their own help: not before.
"""

from importlib import import_module
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from agents.plain_help import PlainGroup, without_flag_types
from fleet.version import VERSION

# What `pip install .` leaves out, for most commands do without: requirements-local.txt.
OF_THE_LAPTOP: Final = frozenset({"cfnlint", "fastapi", "markdown_it", "ministack", "starlette", "uvicorn"})


class Entry(NamedTuple):
    """A command or a group of them: where it is, as ``module:attribute``, and the first sentences of its help."""

    name: str
    place: str
    summary: str


class LazyGroup(PlainGroup):
    """A group that lists ``entries`` without importing them."""

    entries: tuple[Entry, ...] = ()

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as Typer hands them on
        """Make a command of each entry that has nothing but its help."""
        super().__init__(**options)
        for entry in self.entries:
            self.add_command(TyperCommand(entry.name, help=entry.summary, callback=None))

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own classes are private
        """Call the command that was named; a package that was left out ends it with one line."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in OF_THE_LAPTOP:
                raise
            needs = f"this needs {package}, which is not installed"
            typer.echo(f"{needs}: run `pip install '.[synth,local]'` in the project's folder", err=True)
            raise typer.Exit(1) from error

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - Typer's own classes are private
        """The command that ``args`` begins with, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        entry = next((each for each in self.entries if each.name == name), None)
        return name, command if entry is None else load(entry), rest


def load(entry: Entry) -> TyperCommand | TyperGroup:
    """Import the command, or the group, that ``entry`` names."""
    module, _, attribute = entry.place.partition(":")
    found = getattr(import_module(module), attribute)
    holder = typer.Typer(add_completion=False)
    holder.callback()(_nothing)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=entry.name)
    else:
        holder.command(name=entry.name)(found)
    group = typer.main.get_command(holder)
    assert isinstance(group, TyperGroup)  # noqa: S101 - it has a callback
    command: Any = group.commands[entry.name]
    without_flag_types(command)
    return command  # type: ignore[no-any-return]


def _nothing() -> None:
    """Typer makes a group of an application with a callback, however few commands it has."""


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
    Entry("rollout", "cli.rollout:app", "New versions of endpoints: start, status, pause, resume, abort."),
    Entry("page", "cli.page:app", "Whether pages arrive."),
    Entry("bench", "cli.bench.command:app", "Load on an endpoint, and what it comes to."),
    Entry("budget", "cli.budget:app", "Budgets: status, approve a stop, resume."),
    Entry("alarms", "cli.alarms:app", "Alarms: export those that follow jobs and nodes."),
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
