"""Serves the page on 127.0.0.1, for as long as somebody looks."""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from botocore.exceptions import BotoCoreError, ClientError
from starlette.applications import Starlette

from environments.model import Environment
from local.dashboards_page.app import create_app, dashboard_names
from local.dashboards_page.chart_library import ECHARTS, MISSING
from local.dashboards_page.cloud import Cloud, DashboardsPageError, connect, explain

HOST = "127.0.0.1"


@contextmanager
def running(environment: Environment, endpoint_url: str, port: int) -> Iterator[str]:
    """The page over an endpoint in the background; its URL. ``port`` 0 takes a free one.

    Raises:
        DashboardsPageError: nothing answers there, nothing is deployed there, or the port is taken.
    """
    with over(environment, at_endpoint(environment, endpoint_url), port) as url:
        yield url


def at_endpoint(environment: Environment, endpoint_url: str) -> Cloud:
    """The clients of an endpoint; ``DashboardsPageError`` where it is none."""
    try:
        return connect(endpoint_url, environment.region)
    except ValueError as error:
        raise DashboardsPageError(f"{endpoint_url} is no endpoint; it looks like http://127.0.0.1:4566") from error


@contextmanager
def over(environment: Environment, cloud: Cloud, port: int) -> Iterator[str]:
    """The page over ``cloud``, which must have the environment's dashboards; its URL."""
    if not ECHARTS.is_file():
        raise DashboardsPageError(MISSING)
    try:
        names = dashboard_names(cloud, environment.name)
    except (BotoCoreError, ClientError) as error:
        raise DashboardsPageError(explain(error, cloud.endpoint)) from error
    if not names:
        raise DashboardsPageError(f"No dashboard of {environment.name} at {cloud.endpoint}: deploy first")
    with serving(create_app(cloud, environment.name), port) as url:
        yield url


@contextmanager
def serving(app: Starlette, port: int) -> Iterator[str]:
    """``app`` on ``port`` in a thread of its own; its URL."""
    # The socket listens before the thread starts: a request that comes early waits instead of being refused.
    listener = _listen(port)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="dashboards-page", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(timeout=5)
        listener.close()


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            raise
        raise DashboardsPageError(f"Port {port} is in use: give another one, or 0 for any that is free") from error
    listener.listen()
    return listener
