"""`fleet dashboards`: the deployed dashboards, looked at from here."""

import os
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.answers import CONSOLE, refuse, say
from cli.named import Name, known_region
from environments import loader
from environments.model import Environment
from local.platform_state import running

if TYPE_CHECKING:
    from local.dashboards_page.cloud import Cloud

app = typer.Typer(help="The deployed dashboards.", no_args_is_help=True)
EndpointUrl = Annotated[
    str | None, typer.Option(help="Where the data is; default: AWS_ENDPOINT_URL, or the embedded AWS that runs.")
]
Profile = Annotated[str | None, typer.Option(help="Look at a real account, with this profile's credentials.")]
Region = Annotated[
    str | None,
    typer.Option(callback=known_region, help="Look at a real account in this region; default: the environment's."),
]


@app.callback()
def dashboards() -> None:
    """The deployed dashboards."""


@app.command()
def preview(
    environment: Name,
    endpoint_url: EndpointUrl = None,
    profile: Profile = None,
    region: Region = None,
    port: Annotated[int, typer.Option(help="Port of the page; 0: any that is free.")] = 0,
    open_browser: Annotated[bool, typer.Option(help="Open the page.")] = True,
) -> None:
    """Show an environment's dashboards as a local web page, until Ctrl-C."""
    # Only here, as below: no other command needs a web server.
    from local.dashboards_page.server import over  # noqa: PLC0415 - see above

    with _problems_in_one_line():
        named = loader.load(environment)
        with over(named, _cloud(named, endpoint_url, profile, region), port) as url:
            CONSOLE.print(f"dashboards: {url}   (Ctrl-C ends)")
            if open_browser:
                webbrowser.open(url)
            threading.Event().wait()


@app.command()
def png(
    environment: Name,
    out: Annotated[Path, typer.Option(help="The directory to write to.")],
    endpoint_url: EndpointUrl = None,
    profile: Profile = None,
    region: Region = None,
    theme: Annotated[str, typer.Option(help="One of light, dark and both.")] = "both",
) -> None:
    """Write a picture of every dashboard, for a pull request. Needs Chromium."""
    from local.dashboards_page.app import dashboard_rows  # noqa: PLC0415 - see above
    from local.dashboards_page.screenshot import THEMES, chromium, pictures  # noqa: PLC0415 - see above
    from local.dashboards_page.server import over  # noqa: PLC0415 - see above

    if theme not in (*THEMES, "both"):
        refuse(f"--theme {theme}: light, dark or both")
    with _problems_in_one_line():
        chromium()
        named = loader.load(environment)
        cloud = _cloud(named, endpoint_url, profile, region)
        with over(named, cloud, 0) as url:
            for path in pictures(url, dashboard_rows(cloud, named.name), out, THEMES if theme == "both" else [theme]):
                say(str(path))


def _cloud(environment: Environment, endpoint_url: str | None, profile: str | None, region: str | None) -> "Cloud":
    from local.dashboards_page.cloud import connect_account  # noqa: PLC0415 - see above
    from local.dashboards_page.server import at_endpoint  # noqa: PLC0415 - see above

    if profile or region:
        if endpoint_url:
            refuse("--endpoint-url is one place and --profile or --region another: give one of them")
        return connect_account(region or environment.region, profile)
    return at_endpoint(environment, endpoint_url or os.environ.get("AWS_ENDPOINT_URL") or _embedded())


def _embedded() -> str:
    state = running()
    if state is None:
        refuse(
            "no embedded AWS runs here: start one with `fleet local up`, or pass --endpoint-url, or --profile or "
            "--region for a real account"
        )
    return state.endpoint_url


@contextmanager
def _problems_in_one_line() -> Iterator[None]:
    from local.dashboards_page.cloud import DashboardsPageError  # noqa: PLC0415 - see above

    try:
        yield
    except (loader.EnvironmentFileError, DashboardsPageError) as error:
        refuse(error)
    except KeyboardInterrupt:
        CONSOLE.print()
