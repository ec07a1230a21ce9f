"""What a resource is called and what its attributes are, in the forms that AWS gives them."""

import secrets
import string
from collections.abc import Mapping
from typing import Any, Final

from local.emulator.resources.schemas import schema

_ID_PREFIXES: Final = {
    "AWS::EC2::CapacityReservation": "cr",
    "AWS::EC2::CapacityReservationFleet": "crf",
    "AWS::EC2::EIP": "eipalloc",
    "AWS::EC2::FlowLog": "fl",
    "AWS::EC2::NatGateway": "nat",
    "AWS::EC2::NetworkAcl": "acl",
    "AWS::EC2::NetworkInterface": "eni",
    "AWS::EC2::PlacementGroup": "pg",
    "AWS::EC2::SecurityGroupEgress": "sgr",
    "AWS::EC2::SecurityGroupIngress": "sgr",
}
_ARN_KINDS: Final = {
    "AWS::Batch::ComputeEnvironment": "compute-environment/",
    "AWS::Batch::JobDefinition": "job-definition/",
    "AWS::Batch::JobQueue": "job-queue/",
    "AWS::Batch::SchedulingPolicy": "scheduling-policy/",
    "AWS::CloudWatch::AlarmMuteRule": "alarm-mute-rule:",
    "AWS::EC2::CapacityReservation": "capacity-reservation/",
    "AWS::ECS::CapacityProvider": "capacity-provider/",
    "AWS::ResourceGroups::Group": "group/",
}
# Where a service's name in an ARN is not its name in CloudFormation's types.
_ARN_SERVICES: Final = {"resourcegroups": "resource-groups"}
_ATTRIBUTES: Final[Mapping[str, Mapping[str, str]]] = {
    "AWS::EC2::CapacityReservation": {"State": "active", "ReservationType": "default"},
    "AWS::EC2::EIP": {"PublicIp": "203.0.113.10"},
}


def identity(
    type_name: str, region: str, account: str, name: str, properties: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The physical id (what Ref answers) and the attributes (what Fn::GetAtt answers) of a new resource.

    ``name`` is the name that CloudFormation makes up for a resource without one.
    """
    definition = schema(type_name, region)
    own = str(next((properties[key] for key in properties if key.endswith("Name") and key in _top(definition)), name))
    made: dict[str, Any] = {}
    for path in dict.fromkeys([*definition.get("primaryIdentifier", []), *definition.get("readOnlyProperties", [])]):
        attribute = path.removeprefix("/properties/").replace("/", ".")
        made[attribute] = properties.get(attribute, _made_up(type_name, attribute, region, account, own))
    if type_name == "AWS::EC2::CapacityReservation":
        made |= {"TotalInstanceCount": properties["InstanceCount"], "OwnerId": account}
        made |= {"AvailableInstanceCount": properties["InstanceCount"]}
        made["CapacityReservationArn"] = f"arn:aws:ec2:{region}:{account}:capacity-reservation/{made['Id']}"
    identifiers = [str(made[path.removeprefix("/properties/")]) for path in definition["primaryIdentifier"]]
    return "|".join(identifiers), made


def _top(definition: Mapping[str, Any]) -> set[str]:
    """The names of top-level properties that a template sets: a name given there names the resource."""
    return set(definition["properties"])


def _made_up(type_name: str, attribute: str, region: str, account: str, name: str) -> str:
    fixed = _ATTRIBUTES.get(type_name, {})
    if attribute in fixed:
        return fixed[attribute]
    service = type_name.split("::")[1].lower()
    if attribute.endswith("Arn"):
        return f"arn:aws:{_ARN_SERVICES.get(service, service)}:{region}:{account}:{_ARN_KINDS.get(type_name, '')}{name}"
    if attribute.endswith("Id") and type_name in _ID_PREFIXES:
        return f"{_ID_PREFIXES[type_name]}-{secrets.token_hex(9)[:17]}"
    if attribute.endswith("Id") and attribute != "Id":
        return f"{attribute[:-2].lower()}-{secrets.token_hex(9)[:17]}"
    return name


def generated_name(stack: str, logical_id: str) -> str:
    """``stack-logical-A1B2C3D4E5F6``, as CloudFormation names what the template leaves unnamed."""
    suffix = "".join(secrets.choice(string.ascii_uppercase + string.digits) for _ in range(12))
    return f"{stack[:100]}-{logical_id[:100]}-{suffix}"
