"""`fleet cache` and its commands."""

import typer

from cli.cache.promote import promote
from cli.cache.purge import purge
from cli.cache.status import check, status
from cli.cache.warm import warm

app = typer.Typer(help="Compiled graphs: status, warm, check, promote, purge.", no_args_is_help=True)
app.command()(status)
app.command()(warm)
app.command()(check)
app.command()(promote)
app.command()(purge)
