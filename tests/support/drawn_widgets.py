"""Which graphs of the deployed dashboards have nothing to draw, as the local page would draw them."""

import json
from datetime import datetime
from typing import Any

from local.dashboards_page.app import dashboard_names
from local.dashboards_page.cloud import Cloud
from local.dashboards_page.metric_data import metric_widget


def empty_graphs(cloud: Cloud, environment: str, start: datetime, end: datetime) -> dict[str, list[str]]:
    """By dashboard, the titles of the metric widgets without a single value between ``start`` and ``end``."""
    return {
        name: [
            widget["properties"]["title"]
            for widget in json.loads(cloud.cloudwatch.get_dashboard(DashboardName=name)["DashboardBody"])["widgets"]
            if widget["type"] == "metric" and not _has_value(metric_widget(cloud, widget["properties"], start, end))
        ]
        for name in dashboard_names(cloud, environment)
    }


def _has_value(drawn: dict[str, Any]) -> bool:
    return any(value is not None for series in drawn["series"] for _, value in series["points"])
