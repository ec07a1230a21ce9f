"""What the agent itself costs the node."""

import psutil


class SelfUsage:
    """CPU since the last reading, and memory, of this process without its monitor."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._process.cpu_percent()

    def read(self) -> tuple[float, int]:
        """Percent of one core since the last call, and resident bytes."""
        return self._process.cpu_percent(), self._process.memory_info().rss
