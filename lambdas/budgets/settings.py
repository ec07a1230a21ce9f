"""The function's environment variables: the only place that reads them."""

from pydantic import Field, Json

from fleet.budgets.spending import Budgets
from lambdas.budgets.fleets import Target
from lambdas.shared.identity import principal
from lambdas.shared.settings import FunctionSettings


class Settings(FunctionSettings):
    """As deployed. ``budgets``, ``approver_arns`` and ``targets`` are JSON; null and empty where there are none."""

    environment: str = Field(alias="ENVIRONMENT")
    bucket: str = Field(alias="BUCKET")
    ticket_topic: str = Field(alias="TICKET_TOPIC")
    sts_host: str = Field(alias="STS_HOST")
    budgets: Json[Budgets | None] = Field(alias="BUDGETS")
    table: str | None = Field(default=None, alias="TABLE")
    targets: Json[dict[str, Target]] = Field(default={}, alias="PLACES")
    approver_arns: Json[frozenset[str]] = Field(default=frozenset(), alias="APPROVERS")

    @property
    def approvers(self) -> frozenset[str]:
        """Who may decide, as callers are named."""
        return frozenset(map(principal, self.approver_arns))
