"""The roll-up's environment variables: the only place that reads them."""

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, Json


class Settings(BaseModel):
    """As deployed. ``bucket`` holds what arrives and what is made of it; ``instance_types`` are the fleets'."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    environment: str = Field(alias="ENVIRONMENT")
    bucket: str = Field(alias="BUCKET")
    instance_types: Json[tuple[str, ...]] = Field(alias="INSTANCE_TYPES")


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this deployment; a missing variable is named in the error."""
    return Settings.model_validate(dict(environ))
