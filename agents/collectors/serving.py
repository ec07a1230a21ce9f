"""Says in the node's events and metrics that an endpoint's task has given up its host: the node has a FAULT.

The task remembers restarts of its runtime in a file (``workload/serving/memory.py``). After the second sickness
in a boot it asks for no third start, and whoever looks after nodes takes over.
"""

from pathlib import Path

from agents.collectors.collector import Contribution, Request
from agents.collectors.reading.boot_memory import BootMemory, OncePerBoot
from agents.collectors.seen_error import SeenError, Source
from fleet.hardware_errors import SERVING_RUNTIME
from workload.serving import memory as host_memory


class ServingCollector:
    """Reads the file in ``folder``; ``memory`` keeps a host from being counted anew after a restart of the agent."""

    name = "serving"

    def __init__(self, folder: Path, boot_id: str, memory: BootMemory) -> None:
        self._folder, self._boot_id, self._once = folder, boot_id, OncePerBoot(memory)

    def collect(self, request: Request) -> Contribution:
        """What a task said of its runtime in this boot; nothing where nothing happened."""
        self._once.keep()
        found = host_memory.read(self._folder)
        if found is None or not self._boot_id or found.boot_id != self._boot_id:
            return Contribution()
        event = {"serving": {"restarts": found.restarts, "last": found.last, "handed_over": found.handed_over}}
        if not found.handed_over:
            return Contribution(event=event, problems=(f"the endpoint's runtime was restarted: {found.last}",))
        errors = (SeenError(SERVING_RUNTIME, None, 1, (Source.SERVING,)),) if self._once.is_first() else ()
        problem = f"the endpoint's task has given this host up: {found.handed_over}"
        return Contribution(event=event, hardware_errors=errors, problems=(problem,))
