"""Members of the Batch API and properties of templates: the same names, but for the case of their first letters."""

from collections.abc import Mapping
from typing import Any

from botocore.model import ListShape, Shape, StructureShape

Entry = dict[str, Any]


def of_template(shape: Shape, value: Any) -> Any:  # noqa: ANN401 - what the shape says
    """A template's properties as the API has them: the same names, but for the case of their first letters."""
    if isinstance(shape, StructureShape):
        members = {name[:1].upper() + name[1:]: (name, each) for name, each in shape.members.items()}
        known = {key: item for key, item in value.items() if key in members}
        return {members[key][0]: of_template(members[key][1], item) for key, item in known.items()}
    if isinstance(shape, ListShape):
        return [of_template(shape.member, item) for item in value]
    return value


def cased(given: Mapping[str, Any]) -> Entry:
    """Compute resources of a request as a template has them; keys of tags are nobody's but the user's."""
    return {name[:1].upper() + name[1:]: _cased_value(name, value) for name, value in given.items()}


def _cased_value(name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    if name in ("tags", "capacityTags"):
        return value
    if isinstance(value, Mapping):
        return cased(value)
    return [cased(each) if isinstance(each, Mapping) else each for each in value] if isinstance(value, list) else value
