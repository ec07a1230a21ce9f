"""Which jobs a node works for: registration files first, then what the processes' schedulers left on them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from agents.collectors.collector import Contribution, Request
from agents.collectors.jobs import identity, registrations
from agents.collectors.jobs.identity import Identity
from agents.collectors.jobs.job import Job, dimension_value
from agents.collectors.jobs.processes import Processes
from agents.collectors.jobs.registrations import Registration
from workload.compile_cache.compilers import compiler_pids


class JobCollector:
    """Looks in ``directory`` for registration files, and below ``proc`` at the runtimes' processes."""

    name = "jobs"

    def __init__(self, directory: Path, proc: Path) -> None:
        self._directory = directory
        self._proc = proc
        self._processes = Processes(proc)
        # By pid, for as long as its runtime is listed: a process that has ended tells nothing any more.
        self._known: dict[int, Identity | None] = {}
        self._ended: frozenset[int] = frozenset()

    def collect(self, request: Request) -> Contribution:
        """The node's jobs; a compiler names one before any runtime can."""
        registered, problems = registrations.read(self._directory)
        pids = tuple(dict.fromkeys((*request.pids, *compiler_pids(self._proc))))
        problems = (*problems, *self._look(pids))
        seen = {pid: self._known[pid] for pid in pids if pid in self._known}
        jobs, more = attributed(registered, seen)
        return Contribution(jobs=jobs, ended=self._ended_twice(request.pids), problems=(*problems, *more))

    def _look(self, pids: tuple[int, ...]) -> Iterable[str]:
        denied: list[int] = []
        known: dict[int, Identity | None] = {}
        for pid in pids:
            if not self._processes.is_alive(pid):
                if pid in self._known:
                    known[pid] = self._known[pid]
                continue
            known[pid], is_denied = identity.of_process(self._processes, pid)
            if is_denied:
                denied.append(pid)
        self._known = known
        if denied:
            yield f"the environment of {len(denied)} processes may not be read, such as of pid {denied[0]}"

    def _ended_twice(self, pids: tuple[int, ...]) -> tuple[int, ...]:
        # A report is up to a minute older than this look, so a process that ended in between is no news. Where none
        # of them was ever seen, the agent looks at another host's or container's processes.
        gone = frozenset(pid for pid in pids if not self._processes.is_alive(pid)) if self._known else frozenset()
        twice, self._ended = gone & self._ended, gone
        return tuple(sorted(twice))


def attributed(
    registered: tuple[Registration, ...], seen: Mapping[int, Identity | None]
) -> tuple[tuple[Job, ...], tuple[str, ...]]:
    """The jobs of the processes in ``seen``, registered ones first, and what could not be told.

    A registration takes the processes whose scheduler's id it carries. The only one takes what nothing else claims,
    and the processes of the only scheduler's job too, which it then gives a name of its own.
    """
    pids: dict[str, list[int]] = {each.job.job_id: [] for each in registered}
    others: dict[str, tuple[Identity, list[int]]] = {}
    nameless = 0
    for pid, found in seen.items():
        if found is None:
            nameless += 1
            continue
        match = next((each.job.job_id for each in registered if _is_same(each.job, found)), None)
        if match is not None:
            pids[match].append(pid)
        else:
            others.setdefault(found.job_id, (found, []))[1].append(pid)
    if len(registered) == 1:
        only = registered[0].job
        if len(others) == 1 and not pids[only.job_id]:
            return (only,), ()
        return (only, *_found(others)), ()
    jobs = (*(_with_pids(each.job, pids[each.job.job_id]) for each in registered), *_found(others))
    if registered and nameless:
        several = f"{len(registered)} jobs are registered, and {nameless} processes do not say whose they are"
        return jobs, (several,)
    if len(jobs) == 1 and not nameless:
        # Processes that have ended unseen are of the job that all the others are of.
        jobs = (_with_pids(jobs[0], None),)
    return jobs, ()


def _is_same(job: Job, found: Identity) -> bool:
    return any(dimension_value(spelling) == job.job_id for spelling in found.spellings)


def _found(others: Mapping[str, tuple[Identity, list[int]]]) -> tuple[Job, ...]:
    return tuple(
        Job(dimension_value(each.job_id), each.name, each.owner, False, tuple(pids), each.known_by)
        for each, pids in others.values()
    )


def _with_pids(job: Job, pids: Iterable[int] | None) -> Job:
    return Job(job.job_id, job.name, job.owner, job.registered, None if pids is None else tuple(pids), job.known_by)
