"""How long logs are kept."""

from typing import Final

from aws_cdk import aws_logs as logs

from environments.model import Environment

_BY_DAYS: Final = {
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


def retention(environment: Environment) -> logs.RetentionDays:
    """As the environment's file says, in CDK's terms."""
    return _BY_DAYS[environment.monitoring.log_retention_days]
