"""Tells a checkpoint from ordinary writing by how much the host writes."""

import statistics
from collections import deque
from typing import Final

# A checkpoint holds weights and optimizer state: 12 to 16 bytes for each parameter of mixed-precision training, so
# 512 MiB is a node's share of a model with 40 million parameters. Logs and traces write megabytes a minute.
SMALLEST: Final = 512 * 1024 * 1024
# Data loaders that cache on disk write steadily; a checkpoint is several times that.
FACTOR: Final = 4.0
_MINUTES: Final = 30
_FEWEST: Final = 5


class WriteBurst:
    """Remembers the last half hour. The median is the baseline: bursts below half of the time do not move it.

    So a node that is busy with checkpoints for more than half of the time shows none here, and what it always writes
    is never taken for one. Both need a hint of the workload.
    """

    def __init__(self) -> None:
        self._history: deque[float] = deque(maxlen=_MINUTES)

    def is_burst(self, written: float) -> bool:
        """Whether ``written`` (bytes a minute) stands out. The first minutes only teach what is usual."""
        is_known = len(self._history) >= _FEWEST
        usual = statistics.median(self._history) if is_known else 0.0
        self._history.append(written)
        return is_known and written >= max(SMALLEST, FACTOR * usual)
