"""Production with an endpoint that scales: the file's change, its domain values, and its templates."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from environments import loader
from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet.load_balancer import EndpointNames
from fleet.serving.scaling import Scaling, Targets
from stacks.platform import Platform
from tests.support.templates import StackTemplate, stage_of

TARGETS: Final = {"requests_in_flight_per_core": 4, "queue_seconds": 0.5, "core_utilization_percent": 60}
TO_ONE: Final[dict[str, Any]] = {"min_nodes": 1, "targets": TARGETS}
TO_ZERO: Final[dict[str, Any]] = {"min_nodes": 0, "targets": TARGETS, "scale_to_zero_after_minutes": 60}
WARM: Final[dict[str, Any]] = TO_ONE | {"warm_pool": {"nodes": 2, "state": "stopped"}}
_SETTINGS: Final[dict[str, dict[str, Any]]] = {"one": TO_ONE, "zero": TO_ZERO, "warm": WARM}
NAMES: Final = EndpointNames("app/chat/1", "targetgroup/chat/2", "chat-nodes")


def scaling(**changes: Any) -> Scaling:
    values: dict[str, Any] = {"least": 1, "most": 4, "targets": Targets(4, 0.5, 60)} | changes
    return Scaling(**values)


def scaled(settings: dict[str, Any], name: str = "prod") -> Environment:
    """The environment with ``settings`` as its endpoint's ``scaling``."""
    content = loader.load(name).model_dump(mode="json")
    for fleet in content["fleets"]:
        if fleet["purpose"] == "inference":
            fleet["endpoint"]["scaling"] = settings
    return Environment.model_validate(content)


def endpoint_fleet(environment: Environment) -> InferenceFleet:
    (fleet,) = environment.inference_fleets
    return fleet


@cache
def _stage(settings: str) -> tuple[Platform, dict[str, StackTemplate]]:
    stage = stage_of(scaled(_SETTINGS[settings]))
    return stage, {
        each.hierarchical_id.rpartition("/")[2]: StackTemplate(
            each.stack_name, Path(each.template_full_path), each.template
        )
        for each in stage.synth().stacks
    }


def stage(*, zero: bool = False, warm: bool = False) -> Platform:
    return _stage(_name(zero=zero, warm=warm))[0]


def templates(*, zero: bool = False, warm: bool = False) -> dict[str, StackTemplate]:
    """By the stack's id."""
    return _stage(_name(zero=zero, warm=warm))[1]


def _name(*, zero: bool, warm: bool) -> str:
    return "warm" if warm else "zero" if zero else "one"
