"""The function's environment variables: the only place that reads them."""

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, Json


class Settings(BaseModel):
    """As deployed: the table of precompilations, the bucket of artifacts and requests, and the training fleets."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    environment: str = Field(alias="ENVIRONMENT")
    runs_table: str = Field(alias="RUNS_TABLE")
    bucket: str = Field(alias="BUCKET")
    fleets: Json[tuple[str, ...]] = Field(alias="FLEETS")


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this deployment; a missing variable is named in the error."""
    return Settings.model_validate(dict(environ))
