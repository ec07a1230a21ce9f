"""How long to work between two checkpoints, for whoever schedules them.

Saving too often wastes the seconds of the saves, saving too seldom the work since the last one. The optimum depends on
two figures: the seconds that a save keeps training waiting, and the mean time between interruptions of the whole job.

Sources: J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974;
J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation Computer
Systems 22(3), 2006, doi:10.1016/j.future.2004.11.016.
"""

import math


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
