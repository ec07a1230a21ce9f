"""Which job a node works for: registration files first, then the environment of its processes."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agents.collectors.collector import Contribution, Request
from agents.collectors.compilers import compiler_pids
from agents.collectors.job import Job, dimension_value

_LARGEST_FILE: Final = 16 * 1024
_LONGEST_TEXT: Final = 256
_PROBLEMS_SHOWN: Final = 20


class _Registration(msgspec.Struct, frozen=True):
    job_id: str
    name: str = ""
    owner: str = ""
    cores: int | None = None
    tokens_wanted: float | None = None


@dataclass(frozen=True, slots=True)
class JobCollector:
    """Looks in ``directory`` for registration files and below ``proc`` for the environment of processes."""

    directory: Path
    proc: Path
    name: str = "jobs"

    def collect(self, request: Request) -> Contribution:
        """The node's job; a compiler names it before any runtime can."""
        job, problems = self.find((*request.pids, *compiler_pids(self.proc)))
        return Contribution(jobs=() if job is None else (job,), problems=problems)

    def find(self, pids: Iterable[int]) -> tuple[Job | None, tuple[str, ...]]:
        """The node's job and what was wrong on the way. ``pids`` are its processes, the largest holder first."""
        jobs, problems = self._registered()
        if len(jobs) > 1:
            names = ", ".join(job.job_id for job in jobs)
            problems = (*problems, f"several jobs are registered ({names}); the node counts for {jobs[0].job_id}")
        if jobs:
            return jobs[0], problems
        for pid in pids:
            job = _from_environment(_environment(self.proc / str(pid) / "environ"))
            if job is not None:
                return job, problems
        return None, problems

    def _registered(self) -> tuple[tuple[Job, ...], tuple[str, ...]]:
        found: list[tuple[int, Job]] = []
        problems: list[str] = []
        for path in sorted(self.directory.glob("*.json")):
            if len(problems) >= _PROBLEMS_SHOWN:
                break
            try:
                # Anybody may put files here: a pipe would never end, and a long name would not fit a log event.
                if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
                    problems.append(f"job registration {path.name[:_LONGEST_TEXT]}: not a file of at most 16 KiB")
                    continue
                entry = msgspec.json.decode(path.read_bytes(), type=_Registration)
            except FileNotFoundError:
                continue
            except (OSError, msgspec.DecodeError) as error:
                problems.append(f"job registration {path.name[:_LONGEST_TEXT]}: {error}")
                continue
            name = (entry.name or entry.job_id)[:_LONGEST_TEXT]
            job = Job(dimension_value(entry.job_id), name, entry.owner[:_LONGEST_TEXT], registered=True)
            found.append((entry.cores or 0, job))
        found.sort(key=lambda pair: -pair[0])
        return tuple(job for _, job in found), tuple(problems)


def _environment(path: Path) -> dict[str, str]:
    try:
        data = path.read_bytes()
    except OSError:
        # The process has ended, or belongs to somebody whose environment the agent may not read.
        return {}
    pairs = (entry.decode("utf-8", "replace").partition("=") for entry in data.split(b"\0") if entry)
    return {name: value for name, _, value in pairs}


def _from_environment(environment: dict[str, str]) -> Job | None:
    batch = environment.get("AWS_BATCH_JOB_ID", "")
    if batch:
        # The nodes of a multi-node job are called <job>#<index>; they are one job.
        job_id = batch.partition("#")[0]
        return Job(dimension_value(job_id), job_id, "", registered=False)
    slurm = environment.get("SLURM_JOB_ID", "")
    if slurm:
        name = environment.get("SLURM_JOB_NAME", slurm)
        return Job(dimension_value(slurm), name, environment.get("SLURM_JOB_USER", ""), registered=False)
    ecs = environment.get("ECS_CONTAINER_METADATA_URI_V4", "")
    if ecs:
        # http://169.254.170.2/v4/<task>-<container>
        task = ecs.rstrip("/").rpartition("/")[2].partition("-")[0]
        return Job(dimension_value(task), f"ecs task {task}", "", registered=False)
    return None
