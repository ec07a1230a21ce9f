"""Does an endpoint's task fit on a node, and use it?"""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn


def a_task_fits(case: Case) -> Iterator[Diagnostic]:
    """A container is given device files of its node (ECS task definition, linuxParameters), so they must be there."""
    spec, known = case.spec, case.known
    if spec.devices_per_task is not None and spec.devices_per_task > known.devices:
        yield refuse(
            "too-many-devices",
            "endpoint.devices_per_task",
            spec.devices_per_task,
            f"{spec.devices_per_task} devices in a task, but {known.name} has {known.devices}",
            f"use {known.devices} or fewer",
        )


def a_task_uses_what_is_paid_for(case: Case) -> Iterator[Diagnostic]:
    """ECS knows no Neuron devices, so a node holds one task: the devices that it leaves serve nobody."""
    spec, known = case.spec, case.known
    if spec.devices_per_task is not None and spec.devices_per_task < known.devices:
        yield warn(
            "idle-devices",
            "endpoint.devices_per_task",
            spec.devices_per_task,
            f"{known.devices - spec.devices_per_task} of {known.devices} devices of every node are in no task",
            f"use {known.devices}, or a smaller type",
        )


RULES: Final[tuple[Rule, ...]] = (a_task_fits, a_task_uses_what_is_paid_for)
