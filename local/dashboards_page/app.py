"""The web application: one page, and the data that its widgets ask for.

A failure is answered as ``{"error": "one line"}`` and shown where the data would have been: one broken widget must
not empty the page, and a person must see why.
"""

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from environments.documents import RUNBOOKS
from fleet import naming
from local.dashboards_page import panels
from local.dashboards_page.chart_library import ECHARTS
from local.dashboards_page.cloud import Cloud, DashboardsPageError, explain
from local.dashboards_page.live import told
from local.dashboards_page.metric_data import metric_widget

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import ListDashboardsInputTypeDef

STATIC: Final = Path(__file__).parent / "static"
PLACE: Final = {"x": None, "y": None, "width": 6, "height": 6}
# How an endpoint's own begins.
_ENDPOINT: Final = naming.endpoint_audience("")
Answer = Callable[[Request], dict[str, Any]]


def create_app(cloud: Cloud, environment: str, now: Callable[[], float] = time.time) -> Starlette:
    """The application over an endpoint; ``now`` is the wall clock, used where the endpoint has none of its own."""
    page = DashboardsPage(cloud, environment, now)
    return Starlette(
        routes=[
            Route("/", lambda _: FileResponse(STATIC / "index.html")),
            Route("/echarts.js", lambda _: FileResponse(ECHARTS, media_type="text/javascript")),
            Route("/api/overview", _guarded(cloud, page.overview)),
            Route("/api/dashboard", _guarded(cloud, page.dashboard)),
            Route("/api/changes", told(cloud)),
            Route("/api/widget", _guarded(cloud, page.widget)),
            Route("/docs/runbooks/{key}.md", lambda request: _runbook(request.path_params["key"])),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
    )


def dashboard_names(cloud: Cloud, environment: str) -> list[str]:
    """The environment's dashboards, by name."""
    prefix = naming.dashboard_name(environment, "")
    found: list[str] = []
    request: ListDashboardsInputTypeDef = {"DashboardNamePrefix": prefix}
    while True:
        answer = cloud.cloudwatch.list_dashboards(**request)
        found += [entry["DashboardName"] for entry in answer.get("DashboardEntries", ())]
        if not answer.get("NextToken"):
            return sorted(name for name in found if name.startswith(prefix))
        request["NextToken"] = answer["NextToken"]


def dashboard_rows(cloud: Cloud, environment: str) -> dict[str, int]:
    """How many rows of the grid each of the environment's dashboards is high, by name.

    Raises:
        DashboardsPageError: AWS does not answer.
    """
    try:
        bodies = {name: _body(cloud, name) for name in dashboard_names(cloud, environment)}
    except (BotoCoreError, ClientError) as error:
        raise DashboardsPageError(explain(error, cloud.endpoint)) from error
    return {
        name: max((widget.get("y", 0) + widget.get("height", 6) for widget in widgets), default=6)
        for name, widgets in bodies.items()
    }


class DashboardsPage:
    """The page's answers."""

    def __init__(self, cloud: Cloud, environment: str, now: Callable[[], float]) -> None:
        self._cloud, self._environment, self._now = cloud, environment, now
        # As last laid out: a widget's figures must not cost a GetDashboard each, which AWS throttles at ten a second.
        self._laid_out: dict[str, list[dict[str, Any]]] = {}

    def overview(self, _: Request) -> dict[str, Any]:
        """What the frame of the page shows: dashboards, alarms, pages that arrived, and what time it is."""
        names = dashboard_names(self._cloud, self._environment)
        if not names:
            raise DashboardsPageError(f"No dashboard of {self._environment} at {self._cloud.endpoint}: deploy first")
        status, inbox = self._cloud.control("status"), self._cloud.control("inbox")
        prefix = naming.dashboard_name(self._environment, "")
        audiences = _in_order([name.removeprefix(prefix) for name in names])
        return {
            "environment": self._environment,
            "endpoint": self._cloud.endpoint,
            "now": int(((status or {}).get("now") or self._now()) * 1000),
            "dashboards": [{"name": prefix + audience, "title": _title(audience)} for audience in audiences],
            "alarms": panels.alarm_summary(self._cloud, self._environment),
            "inbox": None if inbox is None else inbox.get("messages", []),
        }

    def dashboard(self, request: Request) -> dict[str, Any]:
        """Where each widget lies and what it is; the figures are asked for one widget at a time."""
        name = request.query_params["name"]
        self._laid_out.pop(name, None)
        widgets = self._widgets(name)
        return {"widgets": [_frame(widget) for widget in widgets]}

    def widget(self, request: Request) -> dict[str, Any]:
        """The figures of one widget."""
        query = request.query_params
        widget = self._widgets(query["name"])[int(query["index"])]
        start, end = (datetime.fromtimestamp(int(query[edge]) / 1000, UTC) for edge in ("start", "end"))
        properties = widget.get("properties", {})
        match widget["type"]:
            case "metric":
                return metric_widget(self._cloud, properties, start, end)
            case "alarm":
                return panels.alarm_widget(self._cloud, properties)
            case "log":
                return panels.log_widget(self._cloud, properties, start, end)
            case "text":
                return panels.text_widget(properties)
            case other:
                raise DashboardsPageError(f"This page does not draw widgets of type {other}")

    def _widgets(self, name: str) -> list[dict[str, Any]]:
        if name in self._laid_out:
            return self._laid_out[name]
        widgets = _body(self._cloud, name)
        self._laid_out[name] = widgets
        return widgets


def _body(cloud: Cloud, name: str) -> list[dict[str, Any]]:
    body = json.loads(cloud.cloudwatch.get_dashboard(DashboardName=name)["DashboardBody"])
    widgets: list[dict[str, Any]] = body.get("widgets", [])
    return widgets


def _frame(widget: Mapping[str, Any]) -> dict[str, Any]:
    properties = widget.get("properties", {})
    # Without x and y CloudWatch places a widget in the next free space, and so does the page's grid.
    place = {side: widget.get(side, fallback) for side, fallback in PLACE.items()}
    unit = properties.get("yAxis", {}).get("left", {}).get("label", "")
    shown = "" if unit == "None" else unit
    return {**place, "type": widget["type"], "title": properties.get("title", ""), "unit": shown}


def _runbook(key: str) -> Response:
    """A runbook as a page, because an environment without a web server links to the file's path."""
    path = RUNBOOKS / f"{key}.md"
    if not key.isalnum() or not path.is_file():
        return HTMLResponse(f"No runbook {escape(key)}", status_code=404)
    text = panels.text_widget({"markdown": path.read_text(encoding="utf-8")})["html"]
    template = (STATIC / "runbook.html").read_text(encoding="utf-8")
    return HTMLResponse(template.replace("{title}", escape(key)).replace("{text}", text))


def _in_order(audiences: list[str]) -> list[str]:
    """The dashboard of the person on call first, those of single endpoints last, else by name."""
    return sorted(audiences, key=lambda audience: (audience != "operator", audience.startswith(_ENDPOINT), audience))


def _title(audience: str) -> str:
    if audience.startswith(_ENDPOINT):
        return f"Endpoint {audience.removeprefix(_ENDPOINT)}"
    return audience.replace("-", " ").replace("_", " ").capitalize()


def _guarded(cloud: Cloud, answer: Answer) -> Callable[[Request], Response]:
    """``answer`` as an endpoint. Starlette runs it in a thread, so a slow AWS call holds nothing up."""

    def endpoint(request: Request) -> Response:
        try:
            return JSONResponse(answer(request))
        except (BotoCoreError, ClientError, DashboardsPageError) as error:
            return JSONResponse({"error": explain(error, cloud.endpoint)})
        except (KeyError, ValueError, IndexError, TypeError) as error:
            # A dashboard body or an answer of another shape than CloudWatch documents.
            return JSONResponse({"error": f"Not understood: {type(error).__name__} {error}"})

    return endpoint
