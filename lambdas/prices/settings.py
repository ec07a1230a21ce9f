"""The function's environment variables: the only place that reads them."""

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, Json


class Settings(BaseModel):
    """As deployed. ``types`` are those of the environment's fleets, as JSON; the catalogue's are asked for after."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    environment: str = Field(alias="ENVIRONMENT")
    region: str = Field(alias="PRICE_REGION")
    table: str = Field(alias="PRICE_TABLE")
    types: Json[tuple[str, ...]] = Field(alias="INSTANCE_TYPES")


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this deployment; a missing variable is named in the error."""
    return Settings.model_validate(dict(environ))
