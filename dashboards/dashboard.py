"""Rows of widgets as the CloudWatch dashboard of one audience."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cw
from constructs import Construct

from dashboards.widgets import Row
from fleet import naming


def dashboard(
    scope: Construct, environment: str, audience: str, rows: Sequence[Row], *, construct_id: str | None = None
) -> cw.Dashboard:
    """The dashboard of one audience, over the last three hours. ``construct_id``: by default the audience's name."""
    return cw.Dashboard(
        scope,
        construct_id or audience.title().replace("-", ""),
        dashboard_name=naming.dashboard_name(environment, audience),
        default_interval=Duration.hours(3),
        # Sums of dollars and nodes are by the minute; a longer period chosen by the console would multiply them.
        period_override=cw.PeriodOverride.INHERIT,
        widgets=[list(widgets) for widgets in rows],
    )
