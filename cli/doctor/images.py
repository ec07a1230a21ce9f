"""The machine images of the fleets: from the parameter to the image."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from cli.doctor.account import DoctorAccount
from cli.doctor.visit import Entry, Visit
from fleet.diagnostics import Diagnostic
from planning.preflight.images import ImageSeen, diagnose_image, is_image_id, not_an_image, parameter_not_found

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import ImageTypeDef

_NO_PARAMETER: Final = frozenset({"ParameterNotFound", "ParameterVersionNotFound"})
_NO_IMAGE: Final = frozenset({"InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidAMIID.Malformed"})


def image(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """One finding for a parameter, at the first fleet that names it."""
    name = entry.fleet.image_parameter
    if next(each for each in visit.entries if each.fleet.image_parameter == name) is not entry:
        return
    found = visit.account.find(_NO_PARAMETER, visit.account.ssm.get_parameter, Name=name)
    if found is None:
        yield parameter_not_found(name, visit.environment.region)
        return
    value = str(found["Parameter"]["Value"])
    if not is_image_id(value):
        yield not_an_image(name, value)
        return
    yield from diagnose_image(name, value, _image(visit.account, value), visit.now)


def _image(account: DoctorAccount, image_id: str) -> ImageSeen | None:
    found = account.find(_NO_IMAGE, account.ec2.describe_images, ImageIds=[image_id])
    for seen in found.get("Images", []) if found else []:
        return ImageSeen(image_id, seen.get("State", ""), seen.get("Architecture", ""), _deprecation(seen))
    return None


def _deprecation(seen: "ImageTypeDef") -> datetime | None:
    text = seen.get("DeprecationTime")
    return datetime.fromisoformat(text) if text else None
