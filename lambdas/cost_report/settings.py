"""The roll-up's environment variables: the only place that reads them."""

from pydantic import Field, Json

from lambdas.shared.settings import FunctionSettings


class Settings(FunctionSettings):
    """As deployed. ``bucket`` holds what arrives and what is made of it; ``instance_types`` are the fleets'."""

    environment: str = Field(alias="ENVIRONMENT")
    bucket: str = Field(alias="BUCKET")
    instance_types: Json[tuple[str, ...]] = Field(alias="INSTANCE_TYPES")
