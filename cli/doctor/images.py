"""The machine images of the fleets: from the parameter to the image."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from cli.doctor.account import Account
from cli.doctor.visit import Entry, Visit
from fleet.diagnostics import Diagnostic
from planning.preflight.images import ImageSeen, diagnose_image, is_image_id, not_an_image, parameter_not_found

_NO_PARAMETER: Final = frozenset({"ParameterNotFound", "ParameterVersionNotFound"})
_NO_IMAGE: Final = frozenset({"InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidAMIID.Malformed"})


def image(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """One finding for a parameter, at the first fleet that names it."""
    name = entry.fleet.image_parameter
    if next(each for each in visit.entries if each.fleet.image_parameter == name) is not entry:
        return
    found = visit.account.find("ssm", "get_parameter", _NO_PARAMETER, Name=name)
    if found is None:
        yield parameter_not_found(name, visit.environment.region)
        return
    value = str(found["Parameter"]["Value"])
    if not is_image_id(value):
        yield not_an_image(name, value)
        return
    yield from diagnose_image(name, value, _image(visit.account, value), visit.now)


def _image(account: Account, image_id: str) -> ImageSeen | None:
    found = account.find("ec2", "describe_images", _NO_IMAGE, ImageIds=[image_id]) or {}
    for seen in found.get("Images", []):
        return ImageSeen(image_id, seen.get("State", ""), seen.get("Architecture", ""), _deprecation(seen))
    return None


def _deprecation(seen: dict[str, Any]) -> datetime | None:
    text = seen.get("DeprecationTime")
    return datetime.fromisoformat(text) if text else None
