"""The engine's environment variables: the only place that reads them."""

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, Json

from lambdas.capacity_blocks.ports import Place
from lambdas.shared.identity import principal


class Settings(BaseModel):
    """As deployed. ``approver_arns`` and ``places`` are JSON: a list, and an object by the fleet's name."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    environment: str = Field(alias="ENVIRONMENT")
    table: str = Field(alias="TABLE")
    ticket_topic: str = Field(alias="TICKET_TOPIC")
    node_log_group: str = Field(alias="NODE_LOG_GROUP")
    sts_host: str = Field(alias="STS_HOST")
    approver_arns: Json[frozenset[str]] = Field(alias="APPROVERS")
    places: Json[dict[str, Place]] = Field(alias="PLACES")

    @property
    def approvers(self) -> frozenset[str]:
        """Who may approve, as callers are named."""
        return frozenset(map(principal, self.approver_arns))


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this deployment; a missing variable is named in the error."""
    return Settings.model_validate(dict(environ))
