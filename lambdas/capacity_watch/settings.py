"""What the watch is told: its environment variables, and one parameter for each fleet, where it is launched."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pydantic import Field, Json, TypeAdapter

from fleet import naming
from fleet.reserved.observed import Place
from lambdas.shared.settings import FunctionSettings

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_ssm.type_defs import ParameterTypeDef

# GetParameters takes ten names.
_PAGE: Final = 10
_PLACE: Final = TypeAdapter(Place)


class Settings(FunctionSettings):
    """As deployed. ``fleets`` are names, as JSON; where each is launched lies in a parameter of its own.

    Lambda lets all environment variables together have 4 KB, which the places of twenty fleets do not fit in.
    """

    environment: str = Field(alias="ENVIRONMENT")
    fleets: Json[tuple[str, ...]] = Field(alias="FLEETS")
    price_table: str = Field(alias="PRICE_TABLE")


def read_places(ssm: "SSMClient", environment: str, fleets: Sequence[str]) -> tuple[Place, ...]:
    """The places of ``fleets``, in their order.

    Raises:
        LookupError: a parameter is not there.
    """
    names = [naming.watched_place_parameter(environment, fleet) for fleet in fleets]
    found: dict[str, Place] = {}
    for first in range(0, len(names), _PAGE):
        answer = ssm.get_parameters(Names=names[first : first + _PAGE])
        found |= {each["Name"]: _place(each) for each in answer["Parameters"]}
    absent = [name for name in names if name not in found]
    if absent:
        raise LookupError(f"there is no parameter {', '.join(absent)}")
    return tuple(found[name] for name in names)


def _place(parameter: "ParameterTypeDef") -> Place:
    return replace(_PLACE.validate_json(parameter["Value"]), deployed_at=parameter.get("LastModifiedDate"))
