"""Containers of task definitions that a stack makes, as the ECS API has them all the way down.

ministack changes the case of some members' members and leaves a health check's as the template has it, so that what
DescribeTaskDefinition answers cannot be registered again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ministack.services.cloudformation import provisioners

from local.emulator.api.requests import service_model
from local.emulator.batch.casing import of_template


def keep_containers_whole() -> None:
    """``provisioners._normalize_container_defs``."""
    shape = service_model("ecs").shape_for("ContainerDefinition")

    def normalized(containers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [of_template(shape, container) for container in containers]

    provisioners._normalize_container_defs = normalized
