"""The pager's environment variables: the only place that reads them."""

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, Json

from fleet.paging import Directory, directory_of


class Settings(BaseModel):
    """Names only; the secrets' values stay in Secrets Manager.

    ``paging`` is the directory of destinations as ``fleet.paging.content`` writes it. ``large_fleets`` have more nodes
    than a log query returns events for, those of ``endpoint_dashboards`` a dashboard of their own.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    environment: str = Field(alias="ENVIRONMENT")
    node_log_group: str = Field(alias="NODE_LOG_GROUP")
    capacity_log_group: str = Field(alias="CAPACITY_LOG_GROUP")
    paging: Json[dict[str, Any]] = Field(alias="PAGING")
    large_fleets: Json[frozenset[str]] = Field(default=frozenset(), alias="LARGE_FLEETS")
    endpoint_dashboards: Json[frozenset[str]] = Field(default=frozenset(), alias="ENDPOINT_DASHBOARDS")
    runbooks_url: str = Field(alias="RUNBOOKS_URL")
    idempotency_table: str = Field(alias="IDEMPOTENCY_TABLE")
    waiting_queue: str = Field(alias="WAITING_QUEUE")

    @cached_property
    def directory(self) -> Directory:
        """Who hears of what."""
        return directory_of(self.paging)


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this deployment; a missing variable is named in the error."""
    return Settings.model_validate(dict(environ))
