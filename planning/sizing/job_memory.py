"""Does the model that a job trains fit in the memory of the cores that it asks for?"""

from collections.abc import Iterator
from dataclasses import replace

from fleet.diagnostics import Diagnostic, refuse
from fleet.jobs.rules.case import JobCase, JobRule
from planning.sizing.fit import Fit, check
from planning.sizing.parallelism import Degrees, training_degrees
from planning.sizing.shape import ModelShape, SizingError
from planning.sizing.workload import Checkpointing, Training


def memory_rule(shape: ModelShape, training: Training) -> JobRule:
    """A rule for ``diagnose_job``: the whole model is trained, so that an adapter's training needs less."""

    def model_fits(case: JobCase) -> Iterator[Diagnostic]:
        try:
            fit = job_fit(case, shape, training)
            if fit is None or fit.fits:
                return
            fix = _fix(case, shape, training)
        except SizingError as error:
            yield refuse("model-not-sized", "model", shape.name, str(error), "correct the model, or the fleet's lnc")
            return
        split = f"{shape.name} at tensor {fit.degrees.tensor} x pipeline {fit.degrees.pipeline}"
        yield refuse("model-does-not-fit", "model", shape.name, f"{split}: {'; '.join(fit.reasons)}", fix)

    return model_fits


def job_fit(case: JobCase, shape: ModelShape, training: Training) -> Fit | None:
    """The model on the job's cores; None: its sizes do not add up, which other rules say.

    Raises:
        SizingError: the model cannot be sized on the fleet's type.
    """
    model, world, parallel = case.model_size, case.world_size, case.job.parallel
    if parallel.tensor < 1 or parallel.pipeline < 1 or world < 1 or world % model:
        return None
    if case.cores_per_node % parallel.tensor:
        return None
    degrees = Degrees(parallel.tensor, parallel.pipeline, world // model)
    return check(shape, training, case.known, degrees, lnc=case.spec.lnc)


def _fix(case: JobCase, shape: ModelShape, training: Training) -> str:
    for nodes in range(case.job.nodes, max(case.spec.nodes, case.job.nodes) + 1):
        for degrees in training_degrees(shape, case.cores_per_node, nodes):
            if check(shape, training, case.known, degrees, lnc=case.spec.lnc).fits:
                on = "" if nodes == case.job.nodes else f" on {nodes} nodes"
                return f"use tensor: {degrees.tensor}, pipeline: {degrees.pipeline}{on}"
    if training.checkpointing is not Checkpointing.FULL or training.micro_batch > 1:
        smaller = replace(training, checkpointing=Checkpointing.FULL, micro_batch=1)
        for degrees in training_degrees(shape, case.cores_per_node, case.job.nodes):
            if check(shape, smaller, case.known, degrees, lnc=case.spec.lnc).fits:
                split = f"tensor: {degrees.tensor}, pipeline: {degrees.pipeline}"
                return f"use {split} with checkpointing: full and micro_batch: 1"
    return "use a fleet with more memory or nodes: `fleet plan size --training` lists what holds it"
