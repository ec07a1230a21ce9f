"""CloudFormation's registry schemas, as cfn-lint ships them, and the part of JSON Schema that a resource needs checked.

CloudFormation converts scalars, so "60" is an integer and "true" a boolean here too; the converted value is kept.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Json = Mapping[str, Any] | list[Any] | str | float | bool | None


class PropertyError(ValueError):
    """A property that CloudFormation would refuse; the message holds its path."""


@cache
def schema(type_name: str, region: str) -> Mapping[str, Any]:
    """The registry schema of a resource type; ``KeyError`` when the region does not offer the type."""
    root = files("cfnlint.data.schemas")
    by_type = json.loads(root.joinpath("providers", f"{region}.json").read_text())
    content: dict[str, Any] = json.loads(root.joinpath("resources", f"{by_type[type_name]}.json").read_text())
    return content


def checked(type_name: str, region: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties with scalars converted; raises ``PropertyError`` for the first one that is wrong."""
    definition = schema(type_name, region)
    for path in definition.get("readOnlyProperties", []):
        name = path.removeprefix("/properties/")
        if name in properties and path not in definition.get("primaryIdentifier", []):
            raise PropertyError(f"{type_name}/{name}: is read-only")
    return _Checker(definition).object(properties, definition, type_name)


class _Checker:
    def __init__(self, definition: Mapping[str, Any]) -> None:
        self._definition = definition

    def value(self, value: Json, rule: Mapping[str, Any], path: str) -> Json:
        """Check one value against one rule of the schema."""
        rule = self._resolved(rule)
        if "enum" in rule and value not in rule["enum"] and str(value) not in map(str, rule["enum"]):
            allowed = ", ".join(map(str, rule["enum"][:12]))
            raise PropertyError(f"{path}: {value!r} is not one of {allowed}")
        types = rule.get("type", [])
        for each in [types] if isinstance(types, str) else types:
            converted = self._typed(value, each, rule, path)
            if converted is not None:
                return converted
        if types:
            raise PropertyError(f"{path}: {value!r} is not of type {types}")
        return value

    def _resolved(self, rule: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in rule:
            target: Any = self._definition
            for part in rule["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            rule = target
        return rule

    def _typed(self, value: Json, kind: str, rule: Mapping[str, Any], path: str) -> Json:
        """The value converted to the type, or ``None`` when it is not of it."""
        if kind == "object" and isinstance(value, Mapping):
            return self.object(value, rule, path)
        if kind == "array" and isinstance(value, list):
            return [self.value(item, rule.get("items", {}), f"{path}/{index}") for index, item in enumerate(value)]
        return _scalar(value, kind)

    def object(self, value: Mapping[str, Any], rule: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Check an object's properties: required, unknown, and each value."""
        known = rule.get("properties", {})
        absent = [name for name in rule.get("required", []) if name not in value]
        if absent:
            raise PropertyError(f"{path}: property {absent[0]} is required")
        unknown = [name for name in value if name not in known]
        if unknown and known and rule.get("additionalProperties") is False and "patternProperties" not in rule:
            raise PropertyError(f"{path}: property {unknown[0]} does not exist; known are {', '.join(sorted(known))}")
        return {name: self.value(item, known.get(name, {}), f"{path}/{name}") for name, item in value.items()}


def _scalar(value: Json, kind: str) -> Json:
    if kind == "string" and isinstance(value, str | int | float):
        return ("true" if value else "false") if isinstance(value, bool) else str(value)
    if kind == "boolean" and str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    if kind in ("integer", "number") and isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except ValueError:
            return None
        return int(number) if number.is_integer() and (kind == "integer" or isinstance(value, int)) else number
    return None
