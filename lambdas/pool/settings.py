"""The pool controller's environment variables: the only place that reads them."""

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, Json


class Settings(BaseModel):
    """As deployed. ``fleets`` are names, as JSON; how each is deployed lies in a parameter of its own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    environment: str = Field(alias="ENVIRONMENT")
    fleets: Json[tuple[str, ...]] = Field(alias="FLEETS")
    table: str = Field(alias="TABLE")


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this deployment; a missing variable is named in the error."""
    return Settings.model_validate(dict(environ))
