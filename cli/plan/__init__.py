"""`fleet plan`: what holds a model, what options cost, when a migration has paid for itself. AWS is not asked."""

import typer

from cli.plan.breakeven import breakeven
from cli.plan.compare import compare
from cli.plan.size import size

app = typer.Typer(help="Size a model, compare options, find a break-even. Offline.", no_args_is_help=True)
app.command()(size)
app.command()(compare)
app.command()(breakeven)
