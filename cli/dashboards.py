"""`fleet dashboards`: the deployed dashboards, looked at from here."""

import os
import threading
import webbrowser
from typing import Annotated

import typer

from cli.answers import CONSOLE, refuse
from environments import loader
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
    port: Annotated[int, typer.Option(help="Port of the page; 0: any that is free.")] = 0,
    open_browser: Annotated[bool, typer.Option(help="Open the page.")] = True,
) -> None:
    """Show an environment's dashboards as a local web page, until Ctrl-C."""
    # Only here: no other command needs a web server.
    from local.dashboards_page.cloud import DashboardsPageError  # noqa: PLC0415 - see above
    from local.dashboards_page.server import running as page  # noqa: PLC0415 - see above

    try:
        named = loader.load(environment)
        with page(named, endpoint_url or os.environ.get("AWS_ENDPOINT_URL") or _embedded(), port) as url:
            CONSOLE.print(f"dashboards: {url}   (Ctrl-C ends)")
            if open_browser:
                webbrowser.open(url)
            threading.Event().wait()
    except (loader.EnvironmentFileError, DashboardsPageError) as error:
        refuse(error)
    except KeyboardInterrupt:
        CONSOLE.print()


def _embedded() -> str:
    state = running()
    if state is None:
        refuse("no embedded AWS runs here: start one with `fleet local up`, or pass --endpoint-url")
    return state.endpoint_url
