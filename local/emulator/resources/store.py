"""Resource types that exist here as checked properties only: one CloudFormation handler, and what it has made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from local.emulator.resources.identity import generated_name, identity
from local.emulator.resources.schemas import checked, schema


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


Made = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class SchemaBackedHandler:
    """Create, update and delete resources of one type. ``region_of_request`` says where the stack is deployed.

    ``made`` is called with each resource that was created or changed, ``gone`` with each before it is deleted: where
    a type is more than its properties, the rest of it hangs there. What ``made`` raises fails the deploy.
    """

    type_name: str
    account: str
    region_of_request: Callable[[], str]
    store: ResourceStore
    made: Callable[[Resource], None] = lambda _resource: None
    gone: Callable[[Resource], None] = lambda _resource: None

    def handlers(self) -> dict[str, Any]:
        """The functions in the form that ministack's CloudFormation calls them."""
        return {"create": self.create, "update": self.update, "update_with_logical_id": True, "delete": self.delete}

    def create(self, logical_id: str, properties: Mapping[str, Any], stack: str) -> Made:
        """Check the properties and make the resource; raises ``PropertyError``, which fails the deploy."""
        region = self.region_of_request()
        settings = checked(self.type_name, region, properties)
        name = generated_name(stack, logical_id)
        physical_id, attributes = identity(self.type_name, region, self.account, name, settings)
        resource = Resource(self.type_name, physical_id, region, stack, logical_id, settings, attributes)
        self.made(resource)
        self.store.put(resource)
        return physical_id, attributes

    def update(
        self,
        physical_id: str,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        stack: str,
        logical_id: str | None = None,
    ) -> Made:
        """Change in place, or replace when a create-only property differs."""
        region = self.region_of_request()
        settings = checked(self.type_name, region, new)
        existing = self.store.get(region, self.type_name, physical_id)
        if existing is None or self._needs_replacement(region, old, new):
            made = self.create(logical_id or physical_id, new, stack)
            if made[0] != physical_id:
                self.delete(physical_id, old)
            return made
        changed = replace(existing, properties=settings)
        self.made(changed)
        self.store.put(changed)
        return physical_id, existing.attributes

    def _needs_replacement(self, region: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
        paths = schema(self.type_name, region).get("createOnlyProperties", [])
        names = {path.removeprefix("/properties/").split("/")[0] for path in paths}
        return any(old.get(name) != new.get(name) for name in names)

    def delete(self, physical_id: str, _properties: Mapping[str, Any]) -> None:
        """Forget the resource."""
        existing = self.store.get(self.region_of_request(), self.type_name, physical_id)
        if existing is not None:
            self.gone(existing)
            self.store.delete(existing.region, self.type_name, physical_id)
