"""What the agent itself costs the node, and what the monitor costs that it started."""

import psutil

from agents.collectors.collector import Contribution, Request


class SelfUsage:
    """CPU since the last reading, and memory, of this process without its monitor."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._process.cpu_percent()

    def read(self) -> tuple[float, int]:
        """Percent of one core since the last call, and resident bytes."""
        return self._process.cpu_percent(), self._process.memory_info().rss


class MonitorUsage:
    """The log event's ``neuron_monitor``: CPU and memory of the agent's child processes. It has no others.

    Its figures are real seconds' and bytes', also where the agent lives in virtual time.
    """

    name = "neuron_monitor"

    def __init__(self) -> None:
        self._agent = psutil.Process()
        # psutil measures between two readings of one object, so the objects are kept.
        self._children: dict[psutil.Process, psutil.Process] = {}

    def collect(self, request: Request) -> Contribution:
        """Percent of one core since the last call, absent for a process that is new, and resident bytes."""
        found = self._agent.children(recursive=True)
        is_new = any(child not in self._children for child in found)
        self._children = {child: self._children.get(child, child) for child in found}
        cpu, rss = 0.0, 0
        for child in self._children.values():
            try:
                cpu += child.cpu_percent()
                rss += child.memory_info().rss
            except psutil.Error:
                continue
        if not rss:
            return Contribution()
        usage: dict[str, float] = {"rss_bytes": rss} if is_new else {"cpu_percent": round(cpu, 1), "rss_bytes": rss}
        return Contribution(event={"neuron_monitor": usage})
