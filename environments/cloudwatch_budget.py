"""Does CloudWatch stay within what the environment's file allows it: said by `fleet validate` and at synthesis."""

from collections.abc import Iterator

from environments.model import Environment
from environments.month_shape import month_shape
from environments.types_and_zones import can_be_planned
from fleet.diagnostics import Diagnostic, warn
from fleet.prices.wording import amount
from planning.month.bill import month_of
from planning.month.line import Group
from planning.month.prices import service_price


def over_cloudwatch_budget(environment: Environment) -> Iterator[Diagnostic]:
    """A warning where more is expected than ``monitoring.cloudwatch_usd_per_month``; nothing where none is set."""
    budget = environment.monitoring.cloudwatch_usd_per_month
    # A fleet of a type that there is not, or in no zone of the network, has a diagnostic of its own.
    if budget is None or not can_be_planned(environment):
        return
    month = month_of(month_shape(environment))
    if month.is_over_cloudwatch_budget:
        expected, day = month.usd(Group.CLOUDWATCH), service_price("logs-ingest-gb").as_of
        yield warn(
            "cloudwatch-over-budget",
            "monitoring.cloudwatch_usd_per_month",
            f"{budget:g}",
            f"CloudWatch is expected to cost ${amount(expected.expected)} a month (${amount(expected.low)} to "
            f"${amount(expected.high)}, list prices of {day}), and ${amount(budget)} is allowed",
            "see its lines with `fleet plan cost`; raise the budget, or keep logs for fewer days",
        )
