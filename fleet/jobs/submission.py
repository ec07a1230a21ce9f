"""What AWS Batch, or a pool of a fleet without Batch, and the containers are told of a job that is submitted."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from fleet import naming
from fleet.jobs.plan import JobPlan
from fleet.pool.job import Order
from fleet.pool.observed import PoolDeployment

# Every node runs the same container; an open end, so that it holds for whatever number of nodes is asked for.
ALL_NODES: Final = "0:"
OWNER_TAG: Final = "owner"
JOB_TAG: Final = "job"
# What `fleet jobs show` reads back. Job definitions have no placeholder of these names.
CHECKPOINT: Final = "checkpoint"
TOKENS_WANTED: Final = "tokens_wanted"
WORLD_SIZE: Final = "world_size"


@dataclass(frozen=True, slots=True)
class JobQueue:
    """Where a fleet's jobs go, as deployed: ARNs, and the image of the job definition."""

    queue: str
    definition: str
    image: str
    nodes: int


def submitted_name(job: str, token: str) -> str:
    """``token`` is made by whoever submits: by this name it finds the job again when Batch's answer is lost."""
    return f"{job}-{token}"


def request(plan: JobPlan, *, environment: str, place: JobQueue, name: str) -> dict[str, Any]:
    """SubmitJob's parameters. Within 50 tags, of which the platform's stack gives four."""
    job = plan.job
    parameters = {CHECKPOINT: job.checkpoint, WORLD_SIZE: str(plan.world_size)}
    if job.tokens_wanted is not None:
        parameters[TOKENS_WANTED] = f"{job.tokens_wanted:g}"
    asked: dict[str, Any] = {
        "jobName": name,
        "jobQueue": place.queue,
        "jobDefinition": place.definition,
        "shareIdentifier": naming.share_identifier(job.owner),
        "parameters": parameters,
        "propagateTags": True,
        "tags": {
            "project": naming.PROJECT,
            "environment": environment,
            "fleet": job.fleet,
            OWNER_TAG: job.owner,
            JOB_TAG: job.name,
        },
        "nodeOverrides": {
            "numNodes": job.nodes,
            "nodePropertyOverrides": [
                {
                    "targetNodes": ALL_NODES,
                    "containerOverrides": {
                        "command": list(job.command),
                        "environment": [{"name": key, "value": value} for key, value in variables(plan).items()],
                    },
                }
            ],
        },
    }
    if job.priority is not None:
        asked["schedulingPriorityOverride"] = job.priority
    if plan.timeout_seconds is not None:
        asked["timeout"] = {"attemptDurationSeconds": plan.timeout_seconds}
    return asked


def variables(plan: JobPlan) -> dict[str, str]:
    """Environment variables of every container; the job's own come last and cannot be of these names.

    NEURON_FLEET_RUN is not among them: a run is one attempt, and the checkpoint library makes its name from the job's
    id and attempt, which Batch tells every container.
    """
    job = plan.job
    told = {
        "NEURON_FLEET_JOB": job.name,
        "NEURON_FLEET_OWNER": job.owner,
        "NEURON_FLEET_RANKS_PER_NODE": str(plan.ranks_per_node),
        "NEURON_FLEET_WORLD_SIZE": str(plan.world_size),
        "NEURON_FLEET_TENSOR_PARALLEL": str(job.parallel.tensor),
        "NEURON_FLEET_PIPELINE_PARALLEL": str(job.parallel.pipeline),
        "NEURON_FLEET_DATA_PARALLEL": str(plan.data_parallel),
    }
    spare = None
    if plan.ranks_per_node < plan.cores_per_node:
        # In the form of NEURON_RT_VISIBLE_CORES (Neuron runtime configuration).
        spare = f"{plan.ranks_per_node}-{plan.cores_per_node - 1}"
    optional = {
        "NEURON_FLEET_SPARE_CORES": spare,
        "NEURON_FLEET_CHECKPOINT": job.checkpoint or None,
        "NEURON_FLEET_CHECKPOINT_STEPS": job.every_steps,
        "NEURON_FLEET_CHECKPOINT_MINUTES": None if job.every_minutes is None else f"{job.every_minutes:g}",
        "NEURON_FLEET_TOKENS_WANTED": None if job.tokens_wanted is None else f"{job.tokens_wanted:.0f}",
    }
    told |= {name: str(value) for name, value in optional.items() if value is not None}
    return told | dict(job.variables)


def order(plan: JobPlan, place: PoolDeployment, *, name: str, job_id: str, now: datetime) -> Order:
    """The order under ``name``; ``job_id`` is a UUID that no other submission uses."""
    job = plan.job
    return Order(
        job_id=job_id,
        name=name,
        job=job.name,
        fleet=job.fleet,
        owner=job.owner,
        nodes=job.nodes,
        command=job.command,
        variables=tuple(variables(plan).items()),
        created_at=now,
        timeout_seconds=plan.timeout_seconds or place.longest_job_seconds,
        attempts=place.attempts,
        priority=1 if job.priority is None else job.priority,
        tokens_wanted=job.tokens_wanted,
        checkpoint=job.checkpoint,
    )
