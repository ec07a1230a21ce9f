"""The function's environment variables: the only place that reads them."""

from pydantic import Field, Json

from lambdas.shared.settings import FunctionSettings


class Settings(FunctionSettings):
    """As deployed: the table of precompilations, the bucket of artifacts and requests, and the training fleets."""

    environment: str = Field(alias="ENVIRONMENT")
    runs_table: str = Field(alias="RUNS_TABLE")
    bucket: str = Field(alias="BUCKET")
    fleets: Json[tuple[str, ...]] = Field(alias="FLEETS")
