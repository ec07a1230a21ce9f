"""Whether a job starts again and again and completes nothing: runs that end in vain, close to each other.

A run is what a node sees of a job from its start to its end: the job is gone, or all of its runtimes are other
processes than before. It ended in vain where every minute of it was measured, nothing was executed, no compiler ran, no
phase was announced, and the node was well. One execution is progress: all that was counted is forgotten then, so a job
that restarts from its checkpoint and goes on, or a series of short ones, is never told of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

# Two starts may be lost to nodes that EC2 took back; AWS Batch starts a job no more than three times by our default.
VAIN_RUNS: Final = 3
# Loading a large model may take half an hour (``node_state.STARTUP_GRACE_MINUTES``), and so many times that.
WITHIN_MINUTES: Final = 90
# Schedulers wait minutes between two tries; what stays away for longer was given up.
_GIVEN_UP_MINUTES: Final = 15
# A run of which that much was not seen, as no agent ran, may have done anything.
_UNSEEN_MINUTES: Final = 3
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class RunSeen:
    """One job's part of a node in a minute. ``pids`` are its runtimes' as last seen; none: it has none yet.

    ``completed`` is None when executions were not measured. ``has_reason`` is a compiler that runs, or a phase that was
    announced. ``share`` is its part of the node's price.
    """

    job_id: str
    pids: frozenset[int]
    completed: int | None
    has_reason: bool = False
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Runs:
    """What is remembered of a job's runs. Times are starts of minutes in unix seconds.

    ``seen_at`` is when the job was seen last, ``is_there`` whether it was in the minute that was judged last,
    ``counts`` whether the run that goes on would have ended in vain, and ``vain`` when others did, newest last.
    """

    seen_at: float
    is_there: bool = True
    pids: tuple[int, ...] = ()
    counts: bool = True
    share: float = 1.0
    vain: tuple[float, ...] = ()

    def loops(self, at: float) -> bool:
        """Whether the job starts in vain and has not been given up."""
        return len(self.vain) >= VAIN_RUNS and at - self.seen_at <= _GIVEN_UP_MINUTES * _MINUTE


def after(known: Mapping[str, Runs], seen: Sequence[RunSeen], at: float, *, is_well: bool) -> dict[str, Runs]:
    """``known`` by job id a minute later, with what was ``seen`` in the minute ``at``.

    A node that is not ``is_well``, because it drains or has a fault, ends runs itself.
    """
    there = {each.job_id: each for each in seen}
    before = {job: _on_this_clock(runs, at) for job, runs in known.items()}
    now = {job: _seen(before.get(job), each, at, is_well=is_well) for job, each in there.items()}
    gone = {job: _gone(runs, at, is_well=is_well) for job, runs in before.items() if job not in there}
    return {**now, **{job: runs for job, runs in gone.items() if runs.vain}}


def looping(known: Mapping[str, Runs], at: float) -> dict[str, Runs]:
    """The jobs that crash in a loop, by job id.

    One that is away for the moment counts for as long as no other job is on the node.
    """
    is_taken = any(runs.is_there and not runs.loops(at) for runs in known.values())
    return {job: runs for job, runs in known.items() if runs.loops(at) and (runs.is_there or not is_taken)}


def _seen(runs: Runs | None, seen: RunSeen, at: float, *, is_well: bool) -> Runs:
    pids = tuple(sorted(seen.pids))
    is_vain = not seen.completed and seen.completed is not None and not seen.has_reason and is_well
    if runs is None:
        runs = Runs(at, pids=pids, counts=is_vain)
    elif not runs.is_there:
        runs = replace(runs, counts=True, pids=())
    elif pids and runs.pids and not seen.pids & set(runs.pids):
        runs = replace(_ended(runs, at, is_well=is_well), counts=True)
    vain = () if seen.completed else _lately(runs.vain, at)
    return Runs(at, True, pids or runs.pids, runs.counts and is_vain, seen.share, vain)


def _gone(runs: Runs, at: float, *, is_well: bool) -> Runs:
    ended = _ended(runs, at, is_well=is_well) if runs.is_there else runs
    return replace(ended, is_there=False, pids=(), vain=_lately(ended.vain, at))


def _ended(runs: Runs, at: float, *, is_well: bool) -> Runs:
    is_vain = runs.counts and is_well and at - runs.seen_at <= _UNSEEN_MINUTES * _MINUTE
    return replace(runs, vain=(*runs.vain, at)) if is_vain else runs


def _lately(vain: Sequence[float], at: float) -> tuple[float, ...]:
    return tuple(ended for ended in vain if at - ended < WITHIN_MINUTES * _MINUTE)


def _on_this_clock(runs: Runs, at: float) -> Runs:
    # A clock that was set back: what is remembered moves with it.
    back = min(0.0, at - runs.seen_at)
    return runs if back == 0.0 else replace(runs, seen_at=at, vain=tuple(ended + back for ended in runs.vain))
