"""How long logs are kept, and what becomes of data when its stack is deleted."""

from dataclasses import dataclass
from typing import Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs

from environments.model import Environment

_BY_DAYS: Final = {
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


@dataclass(frozen=True, slots=True)
class Retention:
    """``removal_policy`` keeps data where the environment's file says so, and else deletes it with the stack.

    What a failed first deployment created is deleted in any case: it is empty, and a log group that stayed behind
    would be in the way of the next try, which makes one of the same name.
    """

    log_days: logs.RetentionDays
    removal_policy: RemovalPolicy


def retention_of(environment: Environment) -> Retention:
    """As the environment's file says, in CDK's terms."""
    kept = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if environment.retain_data else RemovalPolicy.DESTROY
    return Retention(_BY_DAYS[environment.monitoring.log_retention_days], kept)
