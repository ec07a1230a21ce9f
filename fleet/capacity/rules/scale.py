"""What changes with size: an endpoint's task on a node, groups of cores, UltraServers, the largest job."""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, note, refuse, warn


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


ULTRACLUSTER_NODES: Final = 100
MOST_NODES_OF_A_JOB: Final = 1000


def cores_can_be_grouped(case: Case) -> Iterator[Diagnostic]:
    """Neuron documentation, Logical NeuronCore configuration: 1 and 2, on Trainium2 and later only."""
    supported = case.known.accelerator.lnc_supported
    if case.spec.lnc is not None and case.spec.lnc not in supported:
        allowed = " or ".join(map(str, supported)) or "none"
        yield refuse(
            "lnc-unsupported",
            "lnc",
            case.spec.lnc,
            f"{case.known.name} cannot group cores so",
            f"allowed: {allowed}",
        )


def utilization_has_a_peak(case: Case) -> Iterator[Diagnostic]:
    """Tensor-engine utilization is measured against a documented peak; without one there is none."""
    core, dtype = case.known.accelerator.core, case.spec.software.dtype
    if core is not None and dtype is not None and dtype not in core.tensor_engine_tflops:
        yield warn(
            "no-tensor-peak",
            "dtype",
            dtype,
            f"no {dtype} peak of NeuronCore-{core.version} is documented: tensor-engine utilization will be absent",
            "watch core utilization instead: set reports_flops: false",
        )


def ultraservers_are_whole(case: Case) -> Iterator[Diagnostic]:
    """Neuron documentation, Trn2 UltraServer: 4 trn2u.48xlarge joined by NeuronLink.

    A Capacity Block of UltraServers is sold by the UltraServer (AWS ParallelCluster, UltraserverCapacityBlockSize).
    """
    joined = case.known.ultraserver_nodes
    if joined is None:
        return
    if case.spec.nodes % joined:
        whole = f"{case.spec.nodes} nodes are not a whole number of UltraServers of {joined}"
        fix = f"use {-(-case.spec.nodes // joined) * joined} nodes"
        if case.is_block:
            yield refuse("ultraserver-block-size", "nodes", case.spec.nodes, whole, fix)
        else:
            yield warn("ultraserver-partial", "nodes", case.spec.nodes, whole, fix)
    yield note(
        "ultraserver",
        "instance_type",
        case.known.name,
        "nodes of an UltraServer share NeuronLink, but AWS's operator that places jobs by it runs on EKS only: here a "
        "job's ranks are spread over nodes without regard to it",
        "order the ranks in the job by /sys/class/neuron_device/server_id",
    )


def ultracluster_is_arranged(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide: a Capacity Block is placed inside an UltraCluster; other capacity of that size is arranged."""
    if case.is_training and case.spec.nodes >= ULTRACLUSTER_NODES:
        yield note(
            "ultracluster",
            "nodes",
            case.spec.nodes,
            f"{case.spec.nodes} nodes in one placement group need an UltraCluster's network, which is arranged with "
            "AWS and not found by asking",
            "reserve the capacity inside the placement group before anything else is deployed",
        )


def job_is_not_too_large(case: Case) -> Iterator[Diagnostic]:
    """AWS Batch user guide, node groups: up to 1,000 nodes in a job, the default limit of an ECS cluster."""
    if case.is_training and case.spec.nodes > MOST_NODES_OF_A_JOB:
        yield warn(
            "job-too-large",
            "nodes",
            case.spec.nodes,
            f"AWS Batch runs a job on {MOST_NODES_OF_A_JOB} nodes at most, unless that limit is raised",
            "ask AWS to raise the limit of instances in an ECS cluster, or make several fleets",
        )


RULES: Final[tuple[Rule, ...]] = (
    a_task_fits,
    a_task_uses_what_is_paid_for,
    cores_can_be_grouped,
    utilization_has_a_peak,
    ultraservers_are_whole,
    ultracluster_is_arranged,
    job_is_not_too_large,
)
