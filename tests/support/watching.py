"""What watches and serves an environment, as tests ask for it: resources by type, dashboards as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from environments import loader
from environments.model import Environment
from tests.support.templates import templates

Json = dict[str, Any]
ENVIRONMENTS = loader.available()


@dataclass(frozen=True, slots=True)
class Watched:
    """One environment and, by the stack's name within it, its templates."""

    environment: Environment
    templates: Mapping[str, Json]

    def resources(self, stack: str, kind: str) -> list[Json]:
        """The properties of every resource of one type."""
        found = self.templates[stack]["Resources"].values()
        return [resource.get("Properties", {}) for resource in found if resource["Type"] == kind]


@cache
def watched(name: str) -> Watched:
    """The environment called ``name``."""
    return Watched(loader.load(name), {stack: template.body for stack, template in templates(name).items()})


def flatten(value: Any) -> str:
    """A string with intrinsic functions in it, each replaced by its own text."""
    if isinstance(value, str):
        return value
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return str(separator).join(flatten(part) for part in parts)
    function, argument = next(iter(value.items()))
    return f"<{function}:{json.dumps(argument).replace(chr(34), '')}>"


def dashboards(of: Watched) -> dict[str, Json]:
    """The bodies of the dashboards, by audience."""
    prefix = f"neuron-fleet-{of.environment.name}-"
    return {
        properties["DashboardName"].removeprefix(prefix): json.loads(flatten(properties["DashboardBody"]))
        for properties in of.resources("observability", "AWS::CloudWatch::Dashboard")
    }
