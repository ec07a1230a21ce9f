"""`fleet jobs` and its commands."""

import typer

from cli.jobs.submit import submit

app = typer.Typer(help="Training jobs: submit, list, show, logs, stop.", no_args_is_help=True)
app.command()(submit)
