"""What a submission takes and costs, in lines for people and as content for JSON."""

from dataclasses import asdict
from typing import Any

from cli.figures import dollars, priced
from cli.jobs import batch_submit
from cli.jobs.request import Prepared
from fleet.fleet_spec import Engine
from fleet.jobs import JobPlan
from fleet.jobs.submission import Place, request


def content(prepared: Prepared) -> dict[str, Any]:
    """The plan, the memory that it takes, and the very request."""
    plan, environment = prepared.plan, prepared.environment
    if plan is None or environment is None:
        return {"plan": None}
    fit, place = prepared.fit, prepared.place
    unknown = Place(queue="", definition="", image=plan.job.image, nodes=plan.job.nodes)
    asked = request(plan, environment=environment.name, place=place or unknown, name=plan.job.name)
    if prepared.spec is not None and prepared.spec.engine is Engine.POOL:
        # What is told to a pool is in the plan.
        asked = {}
    return {
        "environment": environment.name,
        "plan": {key: value for key, value in asdict(plan).items() if key != "notes"},
        "hbm_bytes_per_core": fit and {"used": fit.used_bytes, "headroom": fit.headroom_bytes, "hbm": fit.hbm_bytes},
        "request": asked,
    }


def lines(prepared: Prepared) -> list[str]:
    """Empty where there is no plan."""
    plan, spec, environment = prepared.plan, prepared.spec, prepared.environment
    if plan is None or spec is None or environment is None:
        return []
    job, split = plan.job, plan.job.parallel
    where = f"{environment.name}/{job.fleet}: {job.nodes} x {spec.instance_type}"
    ranks = f"tensor {split.tensor} x pipeline {split.pipeline} x data {plan.data_parallel}"
    said = [f"{job.name} for {job.owner} on {where}, {plan.world_size} ranks = {ranks}", f"image: {job.image}"]
    if prepared.place is not None and job.image != prepared.place.image:
        name = batch_submit.definition_name(environment.name, prepared.place, job.image)
        said.append(
            f"it is not the fleet's image: job definition {name}, a copy of the fleet's with this image, is registered "
            "unless it is there"
        )
    if prepared.fit is not None:
        fit = prepared.fit
        sizes = (fit.used_bytes / 1e9, fit.hbm_bytes / 1e9, fit.free_bytes / 1e9)
        said.append("memory: {:.2f} of {:.2f} GB a core, {:.2f} free beside the head-room".format(*sizes))
    return [*said, *_forecast_lines(plan), f"ends: {_end(plan)}"]


def _forecast_lines(plan: JobPlan) -> list[str]:
    expected = plan.forecast
    if expected is None:
        return ["expected: not known, without tokens_wanted and a pace (throughput, or model)"]
    pace = expected.throughput
    hours = f"expected: {expected.hours:,.1f} h at {pace.tokens_per_second:,.0f} tokens/s ({pace.basis}: {pace.source})"
    if expected.usd is None:
        return [hours, "cost: no price is known"]
    rate = f"{dollars(expected.usd_per_hour)} an hour"
    return [hours, f"cost: ${dollars(expected.usd)} at ${rate} for all nodes; {priced(expected.price)}"]


def _end(plan: JobPlan) -> str:
    if plan.timeout_seconds is None:
        return "each attempt after the fleet's longest_job_hours at the latest"
    return f"each attempt after {plan.timeout_seconds / 3600:.2f} h at the latest"
