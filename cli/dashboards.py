"""`fleet dashboards`: the deployed dashboards, looked at from here."""

import os
from typing import Annotated

import typer

from cli.answers import refuse
from environments import loader
from local.emulator_process import EmulatorStartError, choose_port
from local.platform_state import running

app = typer.Typer(help="The deployed dashboards.", no_args_is_help=True)


@app.callback()
def dashboards() -> None:
    """The deployed dashboards."""


@app.command()
def preview(
    environment: Annotated[str, typer.Argument(help="The environment, such as local.")],
    endpoint_url: Annotated[
        str | None, typer.Option(help="Where the data is; default: AWS_ENDPOINT_URL, or the embedded AWS that runs.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port of the page; default: a free one.")] = None,
    open_browser: Annotated[bool, typer.Option(help="Open the page.")] = True,
) -> None:
    """Show an environment's dashboards as a local web page."""
    from local.dashboards_page import serve  # noqa: PLC0415 - a web server, which no other command needs

    try:
        name = loader.load(environment).name
        endpoint = endpoint_url or os.environ.get("AWS_ENDPOINT_URL") or _embedded()
        serve(name, endpoint, choose_port(port), open_browser)
    except (loader.EnvironmentFileError, EmulatorStartError) as error:
        refuse(error)


def _embedded() -> str:
    state = running()
    if state is None:
        refuse("no embedded AWS runs here: start one with `fleet local up`, or pass --endpoint-url")
    return state.endpoint_url
