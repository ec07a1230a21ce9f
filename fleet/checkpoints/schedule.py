"""When a checkpoint is due. No clock: whoever asks says how late it is.

Every rank must save at the same step. Whole steps need no agreement, because every rank counts them alike; seconds do,
because clocks and waits differ: only one rank may ask ``is_due``, and the others must be told.
"""

from dataclasses import dataclass

from fleet.checkpoints.interval import daly_seconds


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
