"""Who has which part of a node in a minute: processes, cores and dollars by job.

The price is split by cores held, so that the jobs' shares add up to the node's price: cores that nobody holds are paid
for by the jobs that keep the node. A core that several jobs hold counts for each of them by its part.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from agents.collectors.collector import add
from agents.collectors.jobs.job import UNATTRIBUTED, Job, unattributed
from agents.config import AgentConfig
from agents.minute.batch import JobShare, Node
from agents.minute.window import Figures, MinuteWindow
from fleet import patience
from fleet.cost import split_usd, wasted_usd_per_hour
from fleet.crash_loop import RunSeen
from fleet.job_progress import JobSeen
from fleet.metrics import MetricSpec
from fleet.node_state import Memory, NodeState
from fleet.patience import Announced

# Each job is 12 to 16 series of every minute that it runs in.
MAX_JOBS: Final = 16
# <batch job>#<node>, <batch job>:<child>, <slurm job>_<task>
_PART: Final = re.compile(r"(.+(?=[#:]\d+$)|\d+(?=_\d+$))")


@dataclass(frozen=True, slots=True)
class Claim:
    """A job, its processes on the node, and the cores that they hold: a shared one counts by its part."""

    job: Job
    pids: frozenset[int]
    cores: float


def claims(
    jobs: Sequence[Job], pids: AbstractSet[int], holders: Mapping[int, frozenset[int]], *, is_held: bool
) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Divide ``pids`` among ``jobs``, the largest holder of cores first, and what has to be said of it.

    Processes that no job claims are unattributed when they hold a core. ``is_held`` is whether anybody holds one.
    """
    owned: dict[str, tuple[Job, set[int]]] = {}
    for job in jobs:
        owned.setdefault(job.job_id, (job, set()))[1].update(job.pids or ())
    rest = set(pids).difference(*(theirs for _, theirs in owned.values()))
    catch_all = next((job for job in jobs if job.pids is None), None)
    if catch_all is not None:
        owned[catch_all.job_id][1].update(rest)
    elif any(holding & rest for holding in holders.values()) or (is_held and not jobs):
        owned.setdefault(UNATTRIBUTED, (unattributed(), set()))[1].update(rest)
    cores = _cores({pid: job_id for job_id, (_, theirs) in owned.items() for pid in theirs}, holders)
    found = _sorted(Claim(job, frozenset(theirs), cores.get(job.job_id, 0.0)) for job, theirs in owned.values())
    if len(found) <= MAX_JOBS:
        return found, ()
    return _folded(found), (f"{len(found)} jobs share the node; the smallest of them count as {UNATTRIBUTED}",)


def judged(found: Sequence[Claim], memory: Memory, before: Sequence[str]) -> tuple[str | None, Memory]:
    """The job that the node's state is about, and the memory to decide with; ``before`` are the last minute's job ids.

    One job at a time, for as long as it is there: of two jobs of the same size now this one and now that one is first.
    Not knowing whose the cores are is not a new job.
    """
    ids = [claim.job.job_id for claim in found if claim.job.job_id != UNATTRIBUTED]
    if not ids or memory.job in ids:
        return (memory.job if ids else None), memory
    # One that was there before, beside the one that has gone, is not starting up.
    return ids[0], replace(memory, job=ids[0]) if ids[0] in before else memory


def shares(
    found: Sequence[Claim], window: MinuteWindow, all_figures: Figures, state: NodeState, node: Node
) -> tuple[JobShare, ...]:
    """What each job did in ``window`` and its part of the price. ``all_figures`` are of all of them together."""
    price = node.config.price
    costs = split_usd(price.usd_per_hour, [claim.cores for claim in found]) if price else (None,) * len(found)
    everybody = {pid for pid, _ in all_figures.runtimes} | window.pids
    parts = []
    for claim, cost in zip(found, costs, strict=True):
        figures = all_figures if everybody <= claim.pids else _figures(claim, window, all_figures, node)
        lost = None if cost is None else _wasted(cost, figures, state, node.config)
        parts.append(JobShare(claim.job, claim.cores, figures, cost, lost))
    return tuple(parts)


def progress(jobs: Sequence[JobShare], phases: Sequence[Announced], usd_per_hour: float | None) -> list[JobSeen]:
    """What each of ``jobs`` did, as the judgement of the worst of them takes it; ``phases`` are what they announce.

    A job's share is that of the node's price ``usd_per_hour``; without one it is that of the cores that are held.
    """
    ids = [share.job.job_id for share in jobs]
    held = sum(share.cores for share in jobs)
    return [
        JobSeen(
            share.job.job_id,
            share.figures.is_held,
            share.figures.completed,
            share.figures.utilization.mean(),
            share.figures.tensor.mean(),
            share=_part(share, len(jobs), held, usd_per_hour),
            # Whose processes the CPUs work for is known only of a job that is alone.
            cpu_percent=share.figures.cpu_percent if len(jobs) == 1 else None,
            phase=announced(share.job.job_id, phases, ids),
        )
        for share in jobs
    ]


def runs_seen(
    jobs: Sequence[JobShare], phases: Sequence[Announced], usd_per_hour: float | None, *, compiles: bool
) -> list[RunSeen]:
    """Each of ``jobs`` as its runs are counted; ``compiles`` is that a compiler runs, or somebody else's is waited for.

    What no scheduler or registration names is left out: whoever starts it by hand sees how it ends.
    """
    seen = progress(jobs, phases, usd_per_hour)
    return [
        RunSeen(
            each.job_id,
            frozenset(pid for pid, _ in share.figures.runtimes),
            each.completed,
            has_reason=compiles or each.phase is not None,
            share=each.share,
        )
        for share, each in zip(jobs, seen, strict=True)
        if each.job_id != UNATTRIBUTED
    ]


def _part(share: JobShare, jobs: int, held: float, usd_per_hour: float | None) -> float:
    if share.cost_usd_per_hour is not None and usd_per_hour:
        return share.cost_usd_per_hour / usd_per_hour
    return share.cores / held if held else 1 / jobs


def announced(job: str | None, phases: Sequence[Announced], jobs: Sequence[str]) -> Announced | None:
    """The phase of ``job``, the most patient of several. One that does not say whose it is holds for the whole node."""
    own = [phase for phase in phases if not phase.job or whose(phase.job, jobs) == job]
    return max(own, key=lambda phase: patience.announced(phase, None), default=None)


def wasted_by_all(jobs: Sequence[JobShare], figures: Figures, state: NodeState, config: AgentConfig) -> float | None:
    """USD an hour of the node that buy no useful work: what its ``jobs`` waste, as far as that is known.

    One job above its target makes up for nothing that another one wastes. Without jobs the node's ``figures`` count.
    """
    if config.price is None:
        return None
    if not jobs:
        return _wasted(config.price.usd_per_hour, figures, state, config)
    known = [share.wasted_usd_per_hour for share in jobs if share.wasted_usd_per_hour is not None]
    return sum(known) if known else None


def workload(
    reported: Mapping[str, Mapping[MetricSpec, float]], jobs: Sequence[str]
) -> tuple[Mapping[str, Mapping[MetricSpec, float]], tuple[str, ...]]:
    """What workloads ``reported``, by job id, and what of it belongs to nobody. ``jobs`` are the node's.

    Figures without a job are the only job's; with several there is no telling whose. A part of a job that is on the
    node, such as its third node or an element of its array, reports for the job. A job that the agent does not know of
    may report all the same.
    """
    found: dict[str, dict[MetricSpec, float]] = {}
    problems: list[str] = []
    for name, figures in reported.items():
        job_id = whose(name, jobs)
        if not job_id:
            problems.append(f"a workload reports figures without a job, and {len(jobs) or 'no'} jobs are on the node")
        elif job_id not in found and len(found) >= MAX_JOBS:
            problems.append(f"workloads report figures of more than {MAX_JOBS} jobs; those of {job_id} are dropped")
        else:
            add(found.setdefault(job_id, {}), figures)
    return found, tuple(problems)


def whose(name: str, jobs: Sequence[str]) -> str:
    """The one of ``jobs`` that ``name`` is a part of, else ``name``. Without a name, the only one; empty: unknown.

    A part is AWS_BATCH_JOB_ID as it stands, or Slurm's way of writing an element of an array.
    """
    if not name:
        return jobs[0] if len(jobs) == 1 else ""
    part = _PART.match(name)
    return part[1] if name not in jobs and part is not None and part[1] in jobs else name


def _wasted(usd_per_hour: float, figures: Figures, state: NodeState, config: AgentConfig) -> float | None:
    # A registered job that holds no core, such as one whose processes died, does no work at all.
    busy = 0.0 if figures.reports and not figures.is_held else figures.utilization.mean()
    return wasted_usd_per_hour(
        usd_per_hour,
        state,
        tensor_engine_percent=figures.tensor.mean() if config.reports_flops else None,
        core_percent=busy,
        target_percent=config.target_utilization_percent,
    )


def _cores(owner: Mapping[int, str], holders: Mapping[int, frozenset[int]]) -> dict[str, float]:
    cores: dict[str, float] = {}
    for holding in holders.values():
        sharing = {owner[pid] for pid in holding if pid in owner}
        for job_id in sharing:
            cores[job_id] = cores.get(job_id, 0.0) + 1 / len(sharing)
    return cores


def _sorted(found: Iterable[Claim]) -> tuple[Claim, ...]:
    return tuple(sorted(found, key=lambda claim: (-claim.cores, claim.job.job_id == UNATTRIBUTED, claim.job.job_id)))


def _folded(found: Sequence[Claim]) -> tuple[Claim, ...]:
    known = [claim for claim in found if claim.job.job_id != UNATTRIBUTED][: MAX_JOBS - 1]
    others = [claim for claim in found if claim not in known]
    pids = frozenset(pid for claim in others for pid in claim.pids)
    return _sorted([*known, Claim(unattributed(), pids, sum(claim.cores for claim in others))])


def _figures(claim: Claim, window: MinuteWindow, all_figures: Figures, node: Node) -> Figures:
    figures = window.figures(node.layout, claim.pids)
    if not figures.reports:
        held = {core: holding & claim.pids for core, holding in all_figures.holders.items() if holding & claim.pids}
        return replace(figures, allocated=None if all_figures.allocated is None else frozenset(held), holders=held)
    # That nothing ran for a job without a process is known.
    return figures if claim.pids & window.pids or figures.blind else replace(figures, completed=0)
