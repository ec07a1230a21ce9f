"""The machine images behind public parameters: whoever reads an id there can describe the image."""

from typing import Final

from ministack.core.responses import get_region
from ministack.services import ec2, ssm

from local.emulator.resources.public_parameters import PublicParameters

# The account that publishes Amazon's ECS-optimized images.
_PUBLISHER: Final = "591542846629"
_ROOT_DEVICE: Final = "/dev/xvda"


def publish_images() -> None:
    """Replaces ``ssm._PUBLIC_AMI_PARAMETERS`` and adds to ``ec2._STUB_AMIS``, which are for x86_64."""

    def publish(image_id: str, parameter: str) -> None:
        if all(known[0] != image_id for known in ec2._STUB_AMIS):
            name = parameter.removeprefix("/aws/service/").removesuffix("/image_id")
            ec2._STUB_AMIS.append((image_id, name, name, "", _ROOT_DEVICE, _PUBLISHER, "amazon"))

    ssm._PUBLIC_AMI_PARAMETERS = PublicParameters(ssm._PUBLIC_AMI_PARAMETERS, get_region, publish)
