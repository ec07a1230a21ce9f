"""The function's environment variables: the only place that reads them."""

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """As deployed. Where each endpoint is served lies in a parameter of its own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    environment: str = Field(alias="ENVIRONMENT")
    table: str = Field(alias="TABLE")
    state_machine: str = Field(alias="STATE_MACHINE")


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this deployment; a missing variable is named in the error."""
    return Settings.model_validate(dict(environ))
