"""Counters that only grow, until somebody clears them: what they rose by since they were last read."""

from collections.abc import Mapping


class CumulativeCounters:
    """Remembers readings by name. ``readings`` of an earlier life may be given, so that nothing between is missed.

    ``blinks`` says that a counter may read 0 for a while and come back: the Neuron driver prints 0 for a register that
    its firmware does not answer for (``0xdeadbeef`` in ``neuron_sysfs_metrics.c``); old errors must not count twice.
    """

    def __init__(self, readings: Mapping[str, int] | None = None, *, blinks: bool = False) -> None:
        self._last = dict(readings or {})
        self._blinks = blinks
        self._before_zero: dict[str, int] = {}

    @property
    def readings(self) -> Mapping[str, int]:
        """The last reading of each counter."""
        return self._last

    def rise(self, name: str, value: int) -> int | None:
        """What ``name`` rose by; None when it is read for the first time.

        A fall is a cleared counter or a reloaded driver: a new start, not a count.
        """
        last = self._last.get(name)
        self._last[name] = value
        if last is None:
            return None
        if value < last:
            if self._blinks and value == 0:
                self._before_zero[name] = last
            return 0
        if value == last:
            return 0
        # From zero to less than before the counter was cleared indeed; from zero to more, the difference is new.
        before = self._before_zero.pop(name, 0)
        return value - last if value < before else value - max(last, before)
