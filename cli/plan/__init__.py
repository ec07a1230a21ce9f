"""`fleet plan`: what holds a model, what a month costs, what options cost, when a migration pays. AWS is not asked."""

import typer

from cli.plan.assess import assess
from cli.plan.breakeven import breakeven
from cli.plan.compare import compare
from cli.plan.cost import cost
from cli.plan.size import size
from cli.plan.source_figures import source_figures

app = typer.Typer(
    help="Size a model, price an environment, compare options, find a break-even, plan a migration. Offline.",
    no_args_is_help=True,
)
app.command()(size)
app.command()(cost)
app.command()(compare)
app.command()(breakeven)
app.command()(assess)
app.command(name="source-figures")(source_figures)
