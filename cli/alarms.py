"""`fleet alarms`: the alarms that follow jobs and nodes, for whoever runs a Prometheus or a Grafana already."""

from enum import StrEnum
from typing import Annotated, Any

import typer
import yaml

from cli.answers import refuse
from cli.named import Name, file_of
from environments import loader
from environments.alarm_export import DATASOURCE, followed, provisioning, routes, rule_file

app = typer.Typer(help="Alarms: export those that follow jobs and nodes.", no_args_is_help=True)


class Format(StrEnum):
    """Whom the file is for."""

    PROMETHEUS = "prometheus"
    ALERTMANAGER = "alertmanager"
    GRAFANA = "grafana"


@app.callback()
def _alarms() -> None:
    """A group, though it has one command."""


@app.command()
def export(
    environment: Name,
    to: Annotated[Format, typer.Option("--format", help="Whom the file is for.")] = Format.PROMETHEUS,
    datasource: Annotated[str, typer.Option(help="Uid of Grafana's Prometheus that has the series.")] = DATASOURCE,
) -> None:
    """Print rules for Prometheus, routes for Alertmanager, or alerts that Grafana provisions; in YAML."""
    try:
        fleets = followed(loader.load_file(file_of(environment)))
    except loader.EnvironmentFileError as error:
        refuse(error)
    made: dict[str, Any]
    if to is Format.ALERTMANAGER:
        made = routes()
    elif to is Format.GRAFANA:
        made = provisioning(fleets, datasource)
    else:
        made = rule_file(fleets)
    typer.echo(yaml.safe_dump(made, sort_keys=False, width=120), nl=False)
