"""What an update of deployed stacks does to their resources, by CloudFormation's own description of each type. Pure.

A resource is replaced when a property changes that its type's registry schema names in ``createOnlyProperties``, and
may be when it is one of ``conditionalCreateOnlyProperties``. The schemas are AWS's, as cfn-lint ships them. Source:
"Resource type schema" and "Update behaviors of stack resources", CloudFormation User Guide, read 2026-11.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from local.emulator.resources.schemas import schema
from tests.support.upgrade.intrinsics import Templates, exports, functions, is_function, named

Place = tuple[str, str]
_REGION: Final = "us-east-2"
# What a property reads of another resource and what changes though that resource stays.
_VOLATILE: Final = "LatestVersionNumber"
_RETAINED: Final = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})
_POLICIES: Final = ("DeletionPolicy", "UpdateReplacePolicy")


class Effect(StrEnum):
    """What becomes of a resource."""

    REMOVED = "removed"
    REPLACED = "replaced"
    MAY_BE_REPLACED = "may be replaced"


@dataclass(frozen=True, order=True)
class Loss:
    """A deployed resource that does not stay as it is, and the property, or whatever else, that is why."""

    stack: str
    logical_id: str
    kind: str
    effect: Effect
    why: str

    def __str__(self) -> str:
        return f"{self.stack}/{self.logical_id} ({self.kind}) is {self.effect}: {self.why}"


def losses(old: Templates, new: Templates) -> tuple[Loss, ...]:
    """Every resource of ``old`` that an update to ``new`` removes or replaces.

    What is replaced has another id afterwards, so that whatever may not change and reads that id is replaced too.
    """
    found: dict[Place, Loss] = {}
    while True:
        gone = {place for place, loss in found.items() if loss.effect is not Effect.MAY_BE_REPLACED}
        more = {
            (stack, logical_id): loss
            for stack, template in old.items()
            for logical_id in template["Resources"]
            if (loss := _loss(old, new, (stack, logical_id), gone)) is not None
        }
        if more == found:
            return tuple(sorted(found.values()))
        found = more


def _loss(old: Templates, new: Templates, place: Place, gone: set[Place]) -> Loss | None:
    stack, logical_id = place
    before = old[stack]["Resources"][logical_id]
    after = new.get(stack, {}).get("Resources", {}).get(logical_id)
    kind = before["Type"]
    if after is None:
        return Loss(stack, logical_id, kind, Effect.REMOVED, "it is not in the template any more")
    if after["Type"] != kind:
        return Loss(stack, logical_id, kind, Effect.REPLACED, f"its type is {after['Type']}")
    definition = definition_of(kind)
    for effect, key in (
        (Effect.REPLACED, "createOnlyProperties"),
        (Effect.MAY_BE_REPLACED, "conditionalCreateOnlyProperties"),
    ):
        for pointer in definition.get(key, ()):
            path = pointer.removeprefix("/properties/")
            steps = path.split("/")
            was, will_be = _at(before.get("Properties", {}), steps), _at(after.get("Properties", {}), steps)
            if was != will_be:
                return Loss(stack, logical_id, kind, effect, path)
            if _reads(will_be, stack, old, new, gone):
                return Loss(stack, logical_id, kind, effect, f"{path} reads what is replaced")
    return None


def definition_of(kind: str) -> Mapping[str, Any]:
    """The registry schema of a type; empty where there is none."""
    try:
        return schema(kind, _REGION)
    except KeyError:
        return {}


def _at(value: Any, steps: list[str]) -> Any:
    """The part of a property below ``steps``; all of it where a function of CloudFormation stands in the way."""
    if not steps or value is None:
        return value
    if isinstance(value, list):
        rest = steps[1:] if steps[0] in ("*", "items") else steps
        return [_at(item, rest) for item in value]
    if isinstance(value, Mapping) and not is_function(value):
        return _at(value.get(steps[0]), steps[1:])
    return value


def _reads(value: Any, stack: str, old: Templates, new: Templates, gone: set[Place]) -> bool:
    """Whether ``value`` holds something of a resource that is replaced, or of a launch template's next version."""
    for name, argument in functions(value):
        if name == "Fn::ImportValue" and isinstance(argument, str):
            source = next((each for each in new if argument in exports(new[each])), None)
            if source and _reads(exports(new[source])[argument], source, old, new, gone):
                return True
        for logical_id, attribute in named(name, argument):
            if (stack, logical_id) in gone:
                return True
            if attribute == _VOLATILE and _resource(old, stack, logical_id) != _resource(new, stack, logical_id):
                return True
    return False


def _resource(templates: Templates, stack: str, logical_id: str) -> Any:
    return templates.get(stack, {}).get("Resources", {}).get(logical_id, {}).get("Properties")


def unprotected(old: Templates, new: Templates) -> tuple[str, ...]:
    """Resources that were kept when their stack is deleted or they are replaced, and are not kept any more."""
    return tuple(
        f"{stack}/{logical_id}: {policy} was {body[policy]} and is {after.get(policy, 'not there')}"
        for stack, template in old.items()
        for logical_id, body in template["Resources"].items()
        for after in [new.get(stack, {}).get("Resources", {}).get(logical_id)]
        if after is not None
        for policy in _POLICIES
        if body.get(policy) in _RETAINED and after.get(policy) not in _RETAINED
    )
