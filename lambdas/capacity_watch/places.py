"""Where each fleet is launched, as deployed: one parameter for each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import TypeAdapter

from fleet import naming
from fleet.reserved.observed import Place
from lambdas.capacity_watch.clients import SsmClient

# GetParameters takes ten names.
_PAGE: Final = 10
_PLACE: Final = TypeAdapter(Place)


def read(ssm: SsmClient, environment: str, fleets: Sequence[str]) -> tuple[Place, ...]:
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


def _place(parameter: dict[str, Any]) -> Place:
    return replace(_PLACE.validate_json(parameter["Value"]), deployed_at=parameter.get("LastModifiedDate"))
