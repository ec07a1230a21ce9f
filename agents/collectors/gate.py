"""Says in the node's events and metrics what the health gate found at boot: a node that fails has a FAULT."""

from pathlib import Path

import msgspec

from agents.collectors.collector import Contribution, Request
from agents.collectors.reading.boot_memory import BootMemory, OncePerBoot
from agents.collectors.seen_error import SeenError, Source
from agents.gate import verdict
from agents.gate.checks import Outcome
from agents.gate.verdict import Verdict
from fleet.hardware_errors import HEALTH_GATE


class GateCollector:
    """Reads the verdict in ``run_directory``; ``memory`` keeps a failure from being counted anew after a restart."""

    name = "gate"

    def __init__(self, run_directory: Path, boot_id: str, memory: BootMemory) -> None:
        self._run_directory = run_directory
        self._boot_id = boot_id
        self._once = OncePerBoot(memory)

    def collect(self, request: Request) -> Contribution:
        """What the gate said; nothing before it has, and nothing on a node without a gate."""
        self._once.keep()
        try:
            found = verdict.read(self._run_directory)
        except (OSError, msgspec.DecodeError) as error:
            return Contribution(problems=(f"the health gate's verdict cannot be read: {error}",))
        if found is None or found.boot_id != self._boot_id:
            return Contribution()
        return self._contribution(found)

    def _contribution(self, found: Verdict) -> Contribution:
        event = {"gate": {finding.check: finding.outcome.value for finding in found.findings}}
        if found.passed:
            return Contribution(event=event)
        left_open = [finding.check for finding in found.findings if finding.outcome is Outcome.OPEN]
        problem = f"the health gate holds this node back: {found.reason}"
        if left_open:
            problem += f"; not checked: {', '.join(left_open)}"
        errors = (SeenError(HEALTH_GATE, None, 1, (Source.HEALTH_GATE,)),) if self._once.is_first() else ()
        return Contribution(event=event, hardware_errors=errors, problems=(problem,))
