"""What a function is told: its environment variables, and parameters; what is missing is named."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Self

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_ssm.type_defs import ParameterTypeDef

# GetParameters takes ten names.
_PAGE: Final = 10


class FunctionSettings(BaseModel):
    """As deployed. Variables of Lambda itself, and of others, are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The settings of this deployment; a missing variable is named in the error."""
        return cls.model_validate(dict(environ))


def read_parameters(ssm: "SSMClient", names: Sequence[str]) -> "tuple[ParameterTypeDef, ...]":
    """The parameters of ``names``, in their order.

    Raises:
        LookupError: a parameter is not there.
    """
    found: dict[str, ParameterTypeDef] = {}
    for first in range(0, len(names), _PAGE):
        answer = ssm.get_parameters(Names=names[first : first + _PAGE])
        found |= {each["Name"]: each for each in answer["Parameters"]}
    absent = [name for name in names if name not in found]
    if absent:
        raise LookupError(f"there is no parameter {', '.join(absent)}")
    return tuple(found[name] for name in names)
