"""How far the slowest core of a job is behind the others of the same job: nodes of different jobs are not compared.

Job ids are not known when alarms are deployed, and an alarm can search for no series: the capacity watch finds those of
each job, and publishes one figure of the fleet (``JobCoresApart``).
"""

from collections.abc import Iterable
from typing import Final

STRAGGLER_POINTS: Final = 20.0


def may_straggle(highest: float, lowest: float) -> bool:
    """Whether some job's cores may be far apart, by the extremes of all of them in percent: one that is, is there."""
    return highest - lowest > STRAGGLER_POINTS


def points_apart(jobs: Iterable[tuple[float, float]]) -> float | None:
    """Percentage points that a slowest core is behind its own job's median core, at the most; None without a job.

    Each of ``jobs`` is its median and its lowest core's utilization in one minute, in percent.
    """
    return max((median - lowest for median, lowest in jobs), default=None)
