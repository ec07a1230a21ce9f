"""What every part of an environment file is: frozen, and an unknown key is a mistake."""

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """A part of the file. Infinity and NaN are no numbers that a file can mean."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
