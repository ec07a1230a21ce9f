"""What a function is told: its environment variables, read in one place and named when they are missing."""

import os
from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict


class FunctionSettings(BaseModel):
    """As deployed. Variables of Lambda itself, and of others, are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The settings of this deployment; a missing variable is named in the error."""
        return cls.model_validate(dict(environ))
