"""How long to work between two checkpoints, and when one is due. No clock: whoever asks says how late it is.

Every rank must save at the same step. Whole steps need no agreement, because every rank counts them alike; seconds do,
because clocks and waits differ: only one rank may ask ``is_due``, and the others must be told.

Saving too often wastes the seconds of the saves, saving too seldom the work since the last one. The optimum depends on
two figures: the seconds that a save keeps training waiting, and the mean time between interruptions of the whole job.

Sources: J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974;
J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation Computer
Systems 22(3), 2006, doi:10.1016/j.future.2004.11.016.
"""

import math
from dataclasses import dataclass


def young_seconds(save_seconds: float, mean_seconds_between_interruptions: float) -> float:
    """Young's first order: ``sqrt(2 x save x mean)`` seconds of work. For comparison; Daly's is used."""
    _check(save_seconds, mean_seconds_between_interruptions)
    return math.sqrt(2 * save_seconds * mean_seconds_between_interruptions)


def daly_seconds(save_seconds: float, mean_seconds_between_interruptions: float) -> float:
    """Seconds of work between the end of a save and the begin of the next, that lose least time.

    Daly's estimate holds while a save takes less than twice the mean; beyond that the best is to work for the mean.

    Raises:
        ValueError: a figure that is not positive and finite.
    """
    _check(save_seconds, mean_seconds_between_interruptions)
    ratio = save_seconds / (2 * mean_seconds_between_interruptions)
    if ratio >= 1:
        return mean_seconds_between_interruptions
    first_order = young_seconds(save_seconds, mean_seconds_between_interruptions)
    return first_order * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save_seconds


def lost_share(work_seconds: float, save_seconds: float, mean_seconds_between_interruptions: float) -> float:
    """Expected share of the time, 0 to 1, that goes into saves and into work that is done twice; first order.

    An interruption comes on average in the middle of an interval. What starting again costs is not in it: it is the
    same whatever the interval.
    """
    _check(save_seconds, mean_seconds_between_interruptions)
    _check(work_seconds, mean_seconds_between_interruptions)
    interval = work_seconds + save_seconds
    return min(1.0, save_seconds / interval + interval / 2 / mean_seconds_between_interruptions)


def of_job(mean_seconds_of_a_node: float, nodes: int) -> float:
    """Mean seconds between interruptions of a job that any one of its ``nodes`` interrupts, independently."""
    _check(mean_seconds_of_a_node, nodes)
    return mean_seconds_of_a_node / nodes


def _check(*figures: float) -> None:
    for figure in figures:
        if not (math.isfinite(figure) and figure > 0):
            raise ValueError(f"{figure} is not a positive, finite number")


@dataclass(frozen=True, slots=True)
class Schedule:
    """Whichever comes first of those that are set; none: only when somebody asks.

    ``mean_seconds_between_interruptions`` of the whole job makes the interval follow from the measured seconds of a
    save; ``longest_seconds`` is the most work that may be lost whatever the mean promises.
    """

    every_steps: int | None = None
    mean_seconds_between_interruptions: float | None = None
    longest_seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse figures that are not positive."""
        for name in ("every_steps", "mean_seconds_between_interruptions", "longest_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} is {value}: use a positive number, or leave it out")

    def is_step(self, step: int) -> bool:
        """Whether ``step`` is one at which every rank saves without being told."""
        return self.every_steps is not None and step > 0 and step % self.every_steps == 0

    def interval_seconds(self, save_seconds: float | None) -> float | None:
        """Seconds of work between two saves; None: time does not decide.

        Before the first save nobody knows what one costs: then ``longest_seconds`` alone decides, and without it the
        first is due at once, as a measurement.
        """
        if self.mean_seconds_between_interruptions is None:
            return self.longest_seconds
        if save_seconds is None:
            return self.longest_seconds or 0.0
        best = daly_seconds(save_seconds, self.mean_seconds_between_interruptions)
        return best if self.longest_seconds is None else min(best, self.longest_seconds)

    def is_due(self, seconds_since_save: float, save_seconds: float | None) -> bool:
        """Whether time says that a save is due; ``seconds_since_save`` counts from the end of the last one."""
        interval = self.interval_seconds(save_seconds)
        return interval is not None and seconds_since_save >= interval
