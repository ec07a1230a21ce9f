"""What a month may cost: the ``budgets`` of an environment file."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fleet.budgets.spending import FORECAST_PERCENT, StopMode

Principal = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:iam::\d{12}:(user|role)/[A-Za-z0-9+=,.@_/-]+$", max_length=600)
]
Usd = Annotated[float, Field(gt=0, le=1_000_000_000)]


class Budgets(BaseModel):
    """Of a calendar month in UTC, as AWS Budgets counts months."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    monthly_usd: Usd
    owners: Annotated[dict[str, Usd], Field(max_length=50)] = {}
    """What each owner may spend of it. An owner of a fleet, as its tag says, or of jobs."""
    forecast_percent: Annotated[float, Field(ge=1, le=1000)] = FORECAST_PERCENT
    """How much of a budget the forecast of the month may be before it is a ticket."""
    stop: StopMode = StopMode.NEVER
    """What happens when the environment's budget is used up. It never touches what was paid in advance."""
    approvers: Annotated[tuple[Principal, ...], Field(max_length=10)] = ()
    """IAM users and roles who may approve a stop, and end one."""
