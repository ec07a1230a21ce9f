"""The resources that the generic handler has made, so that API answers can be drawn from them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource: its type, its identity, what the template asked for and what Fn::GetAtt answers."""

    type_name: str
    physical_id: str
    region: str
    stack: str
    logical_id: str
    properties: dict[str, Any]
    attributes: dict[str, Any]


class ResourceStore:
    """Resources by type and physical id, in the order of their creation."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str, str], Resource] = {}

    def put(self, resource: Resource) -> None:
        """Add a resource, or replace the one of the same region, type and id."""
        self._resources[resource.region, resource.type_name, resource.physical_id] = resource

    def delete(self, region: str, type_name: str, physical_id: str) -> None:
        """Forget a resource; one that is gone already is no error."""
        self._resources.pop((region, type_name, physical_id), None)

    def of_type(self, region: str, type_name: str) -> list[Resource]:
        """All resources of a type in a region."""
        # Of a copy: executions of state machines look from threads of their own, while stacks make and delete.
        every = [*self._resources.values()]
        return [each for each in every if (each.region, each.type_name) == (region, type_name)]

    def get(self, region: str, type_name: str, physical_id: str) -> Resource | None:
        """One resource, if it exists."""
        return self._resources.get((region, type_name, physical_id))

    def __len__(self) -> int:
        return len(self._resources)
