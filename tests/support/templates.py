"""Every environment, synthesized once in a test run, and what tests ask of the templates."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from environments import loader
from environments.model import Environment
from stacks.platform import Platform

PROJECT_FOLDER = Path(__file__).parents[2]
_STAGES: dict[str, Platform] = {}


@dataclass(frozen=True)
class Resource:
    logical_id: str
    kind: str
    path: str
    properties: dict[str, Any]
    body: dict[str, Any]


@dataclass(frozen=True)
class StackTemplate:
    name: str
    file: Path
    body: dict[str, Any]

    def resources(self, kind: str, under: str = "") -> list[Resource]:
        """Those of one type, whose construct path holds ``under``; never by logical id."""
        return [r for r in self._all() if r.kind == kind and f"/{under}" in r.path]

    def resource(self, kind: str, under: str = "") -> Resource:
        """The only one of its type there."""
        (found,) = self.resources(kind, under)
        return found

    def _all(self) -> Iterator[Resource]:
        for logical_id, body in self.body["Resources"].items():
            path = body.get("Metadata", {}).get("aws:cdk:path", "")
            yield Resource(logical_id, body["Type"], path, body.get("Properties", {}), body)


@cache
def cdk_context() -> dict[str, Any]:
    """What the app runs with: the feature flags, and construct paths in the templates, as the CDK command adds."""
    flags: dict[str, Any] = json.loads((PROJECT_FOLDER / "cdk.json").read_text(encoding="utf-8"))["context"]
    # Whatever archive of the agent or layer lies about on this machine, templates are tested without.
    return {**flags, "aws:cdk:enable-path-metadata": True, "agent-archive": "none", "duckdb-layer": "none"}


@cache
def platform(environment: str) -> Platform:
    """One environment's stage, in an app of its own."""
    return stage_of(loader.load(environment))


def stage_of(environment: Environment) -> Platform:
    """The same of an environment that need not be a file; equal ones share one stage, so no test changes it."""
    key = environment.model_dump_json()
    if key not in _STAGES:
        _STAGES[key] = Platform(new_app(), environment.name, environment=environment)
    return _STAGES[key]


def new_app(**context: object) -> cdk.App:
    """With what the CDK command adds, and without what takes as long as the rest: CDK's own look at the templates."""
    return cdk.App(
        context={**cdk_context(), **context},
        outdir=tempfile.mkdtemp(prefix="cdk-"),
        stack_traces=False,
        builtin_cloud_formation_validation=False,
        post_cli_context={"aws:cdk:disable-creation-stack-traces": True},
    )


@cache
def templates(environment: str) -> Mapping[str, StackTemplate]:
    """One environment's templates, by the stack's id: network, capacity and so on."""
    return templates_of(platform(environment))


@cache
def templates_of(stage: Platform) -> Mapping[str, StackTemplate]:
    """The templates of ``stage``, by the stack's id."""
    return {
        artifact.hierarchical_id.rpartition("/")[2]: StackTemplate(
            artifact.stack_name, Path(artifact.template_full_path), artifact.template
        )
        for artifact in stage.synth().stacks
    }
