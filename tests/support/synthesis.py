"""Synthesizes what watches and serves an environment, once per test run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from environments.loader import load
from environments.model import Environment
from stacks.capacity import CapacityStack
from stacks.compile_cache import CompileCacheStack
from stacks.inference import InferenceStack
from stacks.network import NetworkStack
from stacks.observability import ObservabilityStack
from stacks.operations import OperationsStack

Json = dict[str, Any]
ENVIRONMENTS = ("dev", "staging", "prod", "local")
CONTEXT = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())["context"]


@dataclass(frozen=True, slots=True)
class Watched:
    """The stage and, by the stack's name within it, the templates."""

    environment: Environment
    app: cdk.App
    stage: cdk.Stage
    templates: Mapping[str, Json]

    def resources(self, stack: str, kind: str) -> list[Json]:
        """The properties of every resource of one type."""
        found = self.templates[stack]["Resources"].values()
        return [resource.get("Properties", {}) for resource in found if resource["Type"] == kind]


@cache
def watched(name: str) -> Watched:
    """The environment called ``name``."""
    return synthesize(load(name))


def synthesize(environment: Environment) -> Watched:
    """Any environment."""
    app = cdk.App(context=CONTEXT)
    account = cdk.Environment(account=environment.account, region=environment.region)
    stage = cdk.Stage(app, environment.name, env=account)
    network = NetworkStack(stage, "network", environment=environment)
    compile_cache = CompileCacheStack(stage, "compile-cache", environment=environment, network=network)
    capacity = CapacityStack(stage, "capacity", environment=environment, network=network, compile_cache=compile_cache)
    inference = InferenceStack(stage, "inference", environment=environment, network=network, capacity=capacity)
    observability = ObservabilityStack(stage, "observability", environment=environment, endpoints=inference.endpoints)
    OperationsStack(stage, "operations", environment=environment, observability=observability)
    stacks = {node.node.id: node for node in stage.node.children if isinstance(node, cdk.Stack)}
    assembly = stage.synth()
    templates = {name: assembly.get_stack_artifact(stack.artifact_id).template for name, stack in stacks.items()}
    return Watched(environment, app, stage, templates)


def flatten(value: Any) -> str:
    """A string with intrinsic functions in it, each replaced by its argument's name."""
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
