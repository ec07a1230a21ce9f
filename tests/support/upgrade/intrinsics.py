"""What CloudFormation's functions in a template read: other resources, and what other stacks export. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

Template = Mapping[str, Any]
Templates = Mapping[str, Template]


def is_function(value: Mapping[str, Any]) -> bool:
    """Whether a value is a call of one of them."""
    names = list(value)
    return len(names) == 1 and (names[0] == "Ref" or names[0].startswith("Fn::"))


def functions(value: Any) -> Iterator[tuple[str, Any]]:
    """Every property within ``value`` and what it holds; of those, functions are told by their names."""
    if isinstance(value, list):
        for item in value:
            yield from functions(item)
    elif isinstance(value, Mapping):
        for name, argument in value.items():
            yield name, argument
            yield from functions(argument)


def named(name: str, argument: Any) -> Iterator[tuple[str, str]]:
    """The resources that a function reads, each with the attribute, which is empty for its id."""
    if name == "Ref" and isinstance(argument, str):
        yield argument, ""
    elif name == "Fn::GetAtt":
        logical_id, attribute = argument if isinstance(argument, list) else argument.split(".", 1)
        yield logical_id, attribute
    elif name == "Fn::Sub":
        text = argument[0] if isinstance(argument, list) else argument
        for part in str(text).split("${")[1:]:
            logical_id, _, attribute = part.partition("}")[0].partition(".")
            yield logical_id, attribute


def exports(template: Template) -> dict[str, Any]:
    """The values that a stack exports, by their names."""
    outputs = template.get("Outputs", {}).values()
    return {each["Export"]["Name"]: each["Value"] for each in outputs if isinstance(each.get("Export"), Mapping)}
