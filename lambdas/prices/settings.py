"""The function's environment variables: the only place that reads them."""

from pydantic import Field, Json

from lambdas.shared.settings import FunctionSettings


class Settings(FunctionSettings):
    """As deployed. ``types`` are those of the environment's fleets, as JSON; the catalogue's are asked for after."""

    environment: str = Field(alias="ENVIRONMENT")
    region: str = Field(alias="PRICE_REGION")
    table: str = Field(alias="PRICE_TABLE")
    types: Json[tuple[str, ...]] = Field(alias="INSTANCE_TYPES")
