"""The `fleet` command: what operators and authors of environment files type."""

import typer

from cli import capacity, dashboards, local, plan, validate
from cli.bench.command import app as bench
from cli.budget.command import app as budget
from cli.cache.command import app as cache
from cli.doctor.command import doctor
from cli.jobs.command import app as jobs
from cli.ledger.command import ledger
from cli.page.command import app as page
from cli.prices.command import app as prices
from cli.replay.command import replay_scenarios
from cli.rollout.command import app as rollout

app = typer.Typer(
    name="fleet",
    help="Trainium and Inferentia fleets as code.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command(name="validate")(validate.validate)
app.command(name="doctor")(doctor)
app.command(name="ledger")(ledger)
app.add_typer(capacity.app, name="capacity")
app.add_typer(plan.app, name="plan")
app.add_typer(jobs, name="jobs")
app.add_typer(cache, name="cache")
app.add_typer(prices, name="prices")
app.add_typer(rollout, name="rollout")
app.add_typer(page, name="page")
app.add_typer(bench, name="bench")
app.add_typer(budget, name="budget")
app.command(name="replay")(replay_scenarios)
app.add_typer(local.app, name="local")
app.add_typer(dashboards.app, name="dashboards")
