"""Why a job cannot run on its fleet, or should not: one rule each. Paths are relative to the job's file.

Whether the model fits in the accelerators' memory is not judged here: whoever knows the model's size gives a rule for
it in ``further``, and it is asked like the others.
"""

from collections.abc import Sequence
from typing import Final

from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import FleetSpec, Purpose
from fleet.instances import UnknownInstanceTypeError, instance_type
from fleet.jobs.job import Job
from fleet.jobs.rules import content, endurance, ranks
from fleet.jobs.rules.case import JobCase, JobRule, Standing

RULES: Final[tuple[JobRule, ...]] = (*content.RULES, *ranks.RULES, *endurance.RULES)


def diagnose_job(
    job: Job, spec: FleetSpec, *, standing: Standing | None = None, further: Sequence[JobRule] = ()
) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with ``job`` on the fleet ``spec``; without an error it can be submitted."""
    if job.fleet != spec.name:
        named = f"the job is for fleet {job.fleet}, not for {spec.name}"
        return (refuse("fleet-not-found", "fleet", job.fleet, named, f"write fleet: {spec.name}"),)
    try:
        known = instance_type(spec.instance_type)
    except UnknownInstanceTypeError as error:
        return (refuse(error.code, "fleet", spec.instance_type, str(error), "correct the fleet's file"),)
    if not known.is_neuron:
        without = f"{known.name} has no NeuronCores"
        return (refuse("fleet-without-neuron", "fleet", job.fleet, without, "name a fleet of trn or inf instances"),)
    if spec.purpose is not Purpose.TRAINING:
        serves = f"fleet {spec.name} serves endpoints and takes no jobs"
        return (refuse("fleet-does-not-train", "fleet", job.fleet, serves, "name a training fleet"),)
    case = JobCase(job, spec, known, standing or Standing())
    return tuple(diagnostic for rule in (*RULES, *further) for diagnostic in rule(case))
