"""Do the ranks add up, and does what must be near each other lie on one node?"""

from collections.abc import Iterator
from math import gcd
from typing import Final

from fleet.diagnostics import Diagnostic, note, refuse
from fleet.jobs.rules.case import JobCase, JobRule


def sizes_are_positive(case: JobCase) -> Iterator[Diagnostic]:
    """Each of them counts something."""
    job = case.job
    sizes = {"nodes": job.nodes, "parallel.tensor": job.parallel.tensor, "parallel.pipeline": job.parallel.pipeline}
    if job.cores_per_node is not None:
        sizes["cores_per_node"] = job.cores_per_node
    if job.parallel.data is not None:
        sizes["parallel.data"] = job.parallel.data
    for path, size in sizes.items():
        if size < 1:
            yield refuse("size-not-positive", path, size, f"{path.rpartition('.')[2]} is {size}", "use 1 or more")


def nodes_are_there(case: JobCase) -> Iterator[Diagnostic]:
    """A job that asks for more than the fleet may have waits for ever."""
    nodes, has = case.job.nodes, case.spec.nodes
    if nodes > has:
        yield refuse(
            "too-many-nodes",
            "nodes",
            nodes,
            f"{nodes} nodes, but fleet {case.spec.name} has {has}",
            f"use {has} or fewer, or give the fleet more nodes",
        )


def cores_are_there(case: JobCase) -> Iterator[Diagnostic]:
    """A core runs one rank."""
    cores, has = case.cores_per_node, case.logical_cores
    if cores > has:
        yield refuse(
            "too-many-cores",
            "cores_per_node",
            cores,
            f"{cores} cores, but {case.known.name} has {has} logical cores"
            f"{f' with lnc: {case.spec.lnc}' if case.spec.lnc else ''}",
            f"use {has} or fewer, or leave it out",
        )


def tensor_group_fits_a_node(case: JobCase) -> Iterator[Diagnostic]:
    """Neuron documentation, "Best practices for training": EFA is for what lies between instances.

    A group whose size does not divide the cores of a node would lie on two nodes somewhere.
    """
    tensor, cores = case.job.parallel.tensor, case.cores_per_node
    if tensor < 1 or cores < 1 or cores % tensor == 0:
        return
    fits = max(size for size in range(1, min(tensor, cores) + 1) if cores % size == 0)
    too = "is more than" if tensor > cores else "does not divide"
    yield refuse(
        "tensor-group-leaves-node",
        "parallel.tensor",
        tensor,
        f"a tensor-parallel group of {tensor} {too} the {cores} cores of {case.known.name} and would span nodes",
        f"use {fits}",
    )


def world_divides(case: JobCase) -> Iterator[Diagnostic]:
    """Tensor x pipeline x data is the number of ranks: nodes x logical cores."""
    model, world = case.model_size, case.world_size
    if model < 1 or world < 1 or world % model == 0:
        return
    product = f"tensor x pipeline = {case.job.parallel.tensor} x {case.job.parallel.pipeline} = {model}"
    # The fewest nodes whose ranks hold whole copies of the model.
    step = model // gcd(model, case.cores_per_node)
    fewer, more = case.job.nodes // step * step, -(-case.job.nodes // step) * step
    nodes = [str(n) for n in (fewer, more) if 0 < n <= case.spec.nodes]
    yield refuse(
        "world-size",
        "parallel",
        f"{case.job.parallel.tensor}x{case.job.parallel.pipeline}",
        f"{product} does not divide the world size {case.job.nodes} nodes x {case.cores_per_node} cores = {world}",
        f"use {' or '.join(nodes)} nodes" if nodes else f"use sizes whose product divides {world}",
    )


def data_is_what_is_left(case: JobCase) -> Iterator[Diagnostic]:
    """Stated, it must be what follows from the others."""
    data, model, world = case.job.parallel.data, case.model_size, case.world_size
    if data is None or data < 1 or model < 1 or world % model or data * model == world:
        return
    yield refuse(
        "world-size",
        "parallel.data",
        data,
        f"tensor x pipeline x data = {model} x {data} = {model * data}, but the job has {world} ranks",
        f"use {world // model}, or leave data out" if world >= model else "use fewer ranks for one copy of the model",
    )


def tensor_group_stays_on_a_chip(case: JobCase) -> Iterator[Diagnostic]:
    """The same page, for trn2.48xlarge: "Keep TP4 within a chip"; four logical cores of a chip at LNC 2.

    The data file says for which chips this is advised.
    """
    cores = case.known.accelerator.cores // (case.spec.lnc or case.known.accelerator.default_lnc)
    tensor = case.job.parallel.tensor
    if case.known.accelerator.tensor_groups_stay_on_chip and tensor > cores > 0 and not case.cores_per_node % tensor:
        yield note(
            "tensor-group-leaves-chip",
            "parallel.tensor",
            tensor,
            f"a tensor-parallel group of {tensor} spans {-(-tensor // cores)} chips of {cores} logical cores",
            f"use {cores} if the model's memory allows it",
        )


RULES: Final[tuple[JobRule, ...]] = (
    sizes_are_positive,
    nodes_are_there,
    cores_are_there,
    tensor_group_fits_a_node,
    world_divides,
    data_is_what_is_left,
    tensor_group_stays_on_a_chip,
)
