"""`fleet jobs` and its commands."""

import typer

from cli.jobs.logs import logs
from cli.jobs.show import list_, show
from cli.jobs.stop import stop
from cli.jobs.submit import submit

app = typer.Typer(help="Training jobs: submit, list, show, logs, stop.", no_args_is_help=True)
app.command()(submit)
app.command(name="list")(list_)
app.command()(show)
app.command()(logs)
app.command()(stop)
