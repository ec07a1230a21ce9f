"""Production with an endpoint that names who may call it: its file, and its templates."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from environments import loader
from environments.model import Environment
from stacks.platform import Platform
from tests.support.templates import StackTemplate, stage_of, templates_of

CERTIFICATE: Final = "arn:aws:acm:us-east-2:000000000000:certificate/11111111-2222-3333-4444-555555555555"
# With one network of the VPC's own, and one twice.
PEERED: Final[dict[str, Any]] = {"cidrs": ["10.50.0.0/16", "10.40.8.0/24", "10.50.0.0/16"]}
PUBLIC: Final[dict[str, Any]] = {"cidrs": ["203.0.113.0/24", "198.51.100.7/32", "203.0.113.0/24"], "public": True}


def called_by(name: str = "prod", **clients: Any) -> Environment:
    """The environment with ``clients`` at its endpoint, and a certificate."""
    content = loader.load(name).model_dump(mode="json", exclude_unset=True)
    for fleet in content["fleets"]:
        if fleet["purpose"] == "inference":
            fleet["endpoint"] = {"certificate_arn": CERTIFICATE} | fleet["endpoint"] | {"clients": clients}
    return Environment.model_validate(content)


@cache
def _synthesized(name: str, clients: str) -> tuple[Platform, Mapping[str, StackTemplate]]:
    stage = stage_of(called_by(name, **json.loads(clients)))
    return stage, templates_of(stage)


def stage(name: str = "prod", **clients: Any) -> Platform:
    return _synthesized(name, json.dumps(clients))[0]


def templates(name: str = "prod", **clients: Any) -> Mapping[str, StackTemplate]:
    """By the stack's id."""
    return _synthesized(name, json.dumps(clients))[1]
