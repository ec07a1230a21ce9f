"""Do an endpoint's tasks fit on its nodes, and use them?"""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse, warn


def tasks_fit(case: Case) -> Iterator[Diagnostic]:
    """ECS knows no Neuron devices: every task is given the first ones of its node, so a node holds one task."""
    spec, known = case.spec, case.known
    if spec.devices_per_task is not None and spec.devices_per_task > known.devices:
        yield refuse(
            "too-many-devices",
            "endpoint.devices_per_task",
            spec.devices_per_task,
            f"{spec.devices_per_task} devices in a task, but {known.name} has {known.devices}",
            f"use {known.devices} or fewer",
        )
    elif spec.tasks is not None and spec.tasks > spec.nodes:
        room = f"{spec.nodes} x {known.devices}"
        yield refuse(
            "too-many-tasks",
            "endpoint.tasks",
            spec.tasks,
            f"{spec.tasks} tasks do not fit on nodes x devices = {room}: a node runs one task",
            f"use {spec.nodes} or fewer, or more nodes",
        )


def tasks_use_what_is_paid_for(case: Case) -> Iterator[Diagnostic]:
    """A node holds one task: what that leaves of its devices, and nodes beyond the tasks, serve nobody."""
    spec, known = case.spec, case.known
    if spec.tasks == 0:
        yield warn(
            "endpoint-without-tasks",
            "endpoint.tasks",
            0,
            f"the endpoint answers nobody, and {spec.nodes} nodes are paid for",
            f"use {spec.nodes} tasks, or remove the fleet",
        )
    elif spec.tasks is not None and spec.tasks < spec.nodes:
        yield warn(
            "idle-nodes",
            "endpoint.tasks",
            spec.tasks,
            f"{spec.nodes - spec.tasks} of {spec.nodes} nodes run no task",
            f"use {spec.nodes} tasks, or {spec.tasks} nodes",
        )
    if spec.devices_per_task is not None and spec.devices_per_task < known.devices:
        yield warn(
            "idle-devices",
            "endpoint.devices_per_task",
            spec.devices_per_task,
            f"{known.devices - spec.devices_per_task} of {known.devices} devices of every node are in no task",
            f"use {known.devices}, or a smaller type",
        )


RULES: Final[tuple[Rule, ...]] = (tasks_fit, tasks_use_what_is_paid_for)
