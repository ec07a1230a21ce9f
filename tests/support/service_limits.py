"""What AWS would refuse of a template for its size alone: sums that no schema of a single property has.

A value that CloudFormation fills in counts as an ARN of middling length.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

_FILLED_IN: Final = 110
# Quotas in the user guides of CloudFormation, Lambda, Systems Manager and IAM, and of EC2 on user data; as of 2026-11.
RESOURCES: Final = 500
OUTPUTS: Final = 200
PARAMETERS: Final = 200
TEMPLATE_BYTES: Final = 1_000_000
VARIABLES_BYTES: Final = 4096
PARAMETER_BYTES: Final = 4096
INLINE_POLICIES: Final = 10_240
USER_DATA_BYTES: Final = 16_384
RULES: Final = 60
TAGS: Final = 50


def over_limits(name: str, template: Mapping[str, Any]) -> Iterator[str]:
    """One line for each limit that ``template`` is beyond."""
    resources = template.get("Resources", {})
    size = len(json.dumps(template, indent=1).encode())
    for what, found, most in (
        ("resources", len(resources), RESOURCES),
        ("outputs", len(template.get("Outputs", {})), OUTPUTS),
        ("parameters", len(template.get("Parameters", {})), PARAMETERS),
        ("bytes", size, TEMPLATE_BYTES),
    ):
        if found > most:
            yield f"{name}: {found} {what}, {most} are the most"
    inline: Counter[str] = Counter()
    rules: defaultdict[str, int] = defaultdict(int)
    for logical_id, resource in resources.items():
        properties = resource.get("Properties", {})
        for what, found, most in _sizes(resource["Type"], properties):
            if found > most:
                yield f"{name} {logical_id}: {found} of {what}, {most} are the most"
        _add_shared(resource["Type"], logical_id, properties, inline, rules)
    yield from (f"{name} {role}: inline policies of {n}" for role, n in inline.items() if n > INLINE_POLICIES)
    yield from (f"{name} {group}: {n} inbound rules" for group, n in rules.items() if n > RULES)


def _sizes(kind: str, properties: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    tags = properties.get("Tags", [])
    yield "tags", len(tags), TAGS
    if kind == "AWS::SSM::Parameter":
        yield "bytes in a parameter", length(properties["Value"]), PARAMETER_BYTES
    elif kind == "AWS::Lambda::Function":
        told = properties.get("Environment", {}).get("Variables", {})
        yield "bytes of variables", sum(len(key) + length(value) for key, value in told.items()), VARIABLES_BYTES
    elif kind == "AWS::EC2::LaunchTemplate":
        data = properties["LaunchTemplateData"].get("UserData", "")
        yield "bytes of user data", length(data), USER_DATA_BYTES
    elif kind == "AWS::IAM::ManagedPolicy":
        yield "characters of a managed policy", compact(properties["PolicyDocument"]), 6144


def _add_shared(
    kind: str, logical_id: str, properties: Mapping[str, Any], inline: Counter[str], rules: defaultdict[str, int]
) -> None:
    if kind == "AWS::IAM::Policy":
        for role in properties.get("Roles", []):
            inline[json.dumps(role)] += compact(properties["PolicyDocument"])
    elif kind == "AWS::IAM::Role":
        for policy in properties.get("Policies", []):
            inline[json.dumps({"Ref": logical_id})] += compact(policy["PolicyDocument"])
    elif kind == "AWS::EC2::SecurityGroup":
        rules[logical_id] += len(properties.get("SecurityGroupIngress", []))
    elif kind == "AWS::EC2::SecurityGroupIngress":
        rules[json.dumps(properties["GroupId"])] += 1


def compact(document: Any) -> int:
    """Characters of a policy without white space, as IAM counts them."""
    if isinstance(document, Mapping):
        if len(document) == 1 and next(iter(document)) in {
            "Ref",
            "Fn::GetAtt",
            "Fn::ImportValue",
            "Fn::Join",
            "Fn::Sub",
        }:
            return length(document) + 2
        return 2 + sum(len(key) + 4 + compact(value) for key, value in document.items())
    if isinstance(document, list):
        return 2 + sum(compact(item) + 1 for item in document)
    return len(json.dumps(document))


def length(value: Any) -> int:
    """Bytes of a string of a template."""
    if not isinstance(value, Mapping):
        return len(str(value).encode())
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return sum(map(length, parts)) + len(separator) * (len(parts) - 1)
    if "Fn::Base64" in value:
        return length(value["Fn::Base64"])
    if value.get("Ref", "").startswith("AWS::"):
        return {"AWS::Partition": 3, "AWS::Region": 9, "AWS::AccountId": 12}.get(value["Ref"], 20)
    return _FILLED_IN
