"""The pager's environment variables: the only place that reads them."""

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """Names only; the secrets' values stay in Secrets Manager."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    environment: str = Field(alias="ENVIRONMENT")
    node_log_group: str = Field(alias="NODE_LOG_GROUP")
    capacity_log_group: str = Field(alias="CAPACITY_LOG_GROUP")
    pagerduty_secret: str = Field(alias="PAGERDUTY_SECRET")
    slack_secret: str = Field(alias="SLACK_SECRET")
    runbooks_url: str = Field(alias="RUNBOOKS_URL")
    idempotency_table: str = Field(alias="IDEMPOTENCY_TABLE")


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this deployment; a missing variable is named in the error."""
    return Settings.model_validate(dict(environ))
