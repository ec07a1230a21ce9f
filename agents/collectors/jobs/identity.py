"""Which job a process says it belongs to, in its environment, its parents' or its control group.

Nothing has to be installed in a job for this. Sources: the environment variables of AWS Batch (user guide, "Job
environment variables"), sbatch(1), the ECS agent's source (``agent/api/task``: ``BuildCgroupRoot``, the metadata
endpoints), and Slurm's ``cgroup/v1`` and ``cgroup/v2`` plugins.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from agents.collectors.jobs.job import KnownBy
from agents.collectors.jobs.processes import Processes

LONGEST_TEXT: Final = 256
# On Fargate .../v4/<task>-<number>. On EC2 the last part is a random UUID of the container.
_ECS_ENDPOINT: Final = re.compile(r"/v[34]/([0-9a-f]{32})-\d+$")
# cgroup v1 /ecs/<task>/<container>, v2 /ecstasks.slice/ecstasks-<task>.slice/docker-<container>.scope; older tasks
# have UUIDs with dashes.
_ECS_CGROUP: Final = re.compile(
    r"/(?:ecs/(?:[^/]+/)?|ecstasks-)([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"
)
_ECS_METADATA_FILE: Final = "ECS_CONTAINER_METADATA_FILE"
_LARGEST_METADATA: Final = 64 * 1024
# cgroup v1 /slurm[_node]/uid_<uid>/job_<id>/step_0, v2 /system.slice/[<node>_]slurmstepd.scope/job_<id>/step_0.
_SLURM_CGROUP: Final = re.compile(r"/(?:slurm(?:_[^/]+)?/uid_\d+|[^/]*slurmstepd\.scope)/job_(\d+)(?:/|$)")


class _Metadata(msgspec.Struct, frozen=True):
    task_arn: str = msgspec.field(name="TaskARN", default="")
    family: str = msgspec.field(name="TaskDefinitionFamily", default="")


@dataclass(frozen=True, slots=True)
class Identity:
    """A job by its scheduler's id; ``spellings`` are all under which somebody may have registered it."""

    job_id: str
    name: str
    owner: str
    known_by: KnownBy
    spellings: frozenset[str]


def of_process(processes: Processes, pid: int) -> tuple[Identity | None, bool]:
    """The job of ``pid``, None when nothing tells; and whether its environment may not be read.

    The nearest process of its line that a scheduler started counts, because launchers clear environments. Control
    groups come last: Batch runs its jobs as ECS tasks, and an array's tasks have ids of their own there.
    """
    is_denied = False
    for ancestor in processes.lineage(pid):
        try:
            environment = processes.environment(ancestor)
        except PermissionError:
            is_denied |= ancestor == pid
            continue
        found = _batch(environment) or _slurm(environment)
        found = found or _of_metadata_file(processes, ancestor, environment) or _ecs(environment)
        if found is not None:
            return found, is_denied
    return of_cgroups(processes.cgroups(pid)), is_denied


def of_cgroups(paths: Iterable[str]) -> Identity | None:
    """The ECS task or Slurm job whose control group the process is in."""
    for path in paths:
        if task := _ECS_CGROUP.search(path):
            return _task(task[1])
        if job := _SLURM_CGROUP.search(path):
            return _identity(job[1], f"slurm job {job[1]}", "", KnownBy.SLURM)
    return None


def _batch(environment: Mapping[str, str]) -> Identity | None:
    full = environment.get("AWS_BATCH_JOB_ID", "")
    # Nodes of a multi-node job are <job>#<index>, children of an array <job>:<index>. Both are what somebody submitted
    # as one job, and an array's 10,000 children as 10,000 jobs would cost more than they tell.
    job_id = re.split("[#:]", full, maxsplit=1)[0]
    if not job_id:
        return None
    # What `fleet jobs submit` tells every container; a job that came another way has neither.
    name, owner = environment.get("NEURON_FLEET_JOB") or job_id, environment.get("NEURON_FLEET_OWNER", "")
    return _identity(job_id, name, owner, KnownBy.BATCH, full)


def _slurm(environment: Mapping[str, str]) -> Identity | None:
    own = environment.get("SLURM_JOB_ID") or environment.get("SLURM_JOBID", "")
    if not own:
        return None
    # Tasks of an array and components of a heterogeneous job have ids of their own, and one that was submitted.
    job_id = environment.get("SLURM_ARRAY_JOB_ID") or environment.get("SLURM_HET_JOB_ID") or own
    name = environment.get("SLURM_JOB_NAME") or job_id
    task = f"{job_id}_{environment.get('SLURM_ARRAY_TASK_ID', '')}"
    return _identity(job_id, name, environment.get("SLURM_JOB_USER", ""), KnownBy.SLURM, own, task)


def _ecs(environment: Mapping[str, str]) -> Identity | None:
    for name in ("ECS_CONTAINER_METADATA_URI_V4", "ECS_CONTAINER_METADATA_URI"):
        found = _ECS_ENDPOINT.search(environment.get(name, ""))
        if found:
            return _task(found[1])
    return None


def _of_metadata_file(processes: Processes, pid: int, environment: Mapping[str, str]) -> Identity | None:
    # Written by the ECS agent where ECS_ENABLE_CONTAINER_METADATA is set; the only place with the task's family.
    path = environment.get(_ECS_METADATA_FILE, "")
    if not path:
        return None
    try:
        content = msgspec.json.decode(processes.file(pid, path, _LARGEST_METADATA), type=_Metadata)
    except (OSError, msgspec.DecodeError, ValueError):
        return None
    task = content.task_arn.rpartition("/")[2]
    return _task(task, content.family) if task else None


def _task(task: str, family: str = "") -> Identity:
    return _identity(task, family or f"ecs task {task}", "", KnownBy.ECS)


def _identity(job_id: str, name: str, owner: str, known_by: KnownBy, *spellings: str) -> Identity:
    also = frozenset(text[:LONGEST_TEXT] for text in (job_id, *spellings))
    return Identity(job_id[:LONGEST_TEXT], name[:LONGEST_TEXT], owner[:LONGEST_TEXT], known_by, also)
