"""The deployed CloudWatch dashboards as a local web page, drawn from whatever endpoint is given."""

from local.dashboards_page.cloud import DashboardsPageError
from local.dashboards_page.server import running, serve

__all__ = ["DashboardsPageError", "running", "serve"]
