"""How much a simulated node has worked: whole figures of its script and of virtual time, and of nothing else.

Training goes at the speed of the tensor engines, serving at that of the requests: a data loader that starves the
engines makes fewer tokens, and an endpoint whose monitor is dead goes on answering.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from fleet.instances import instance_type, tensor_engine_peak_flops
from local.simulation.fleet_part import FleetPart
from local.simulation.identity_report import core_version
from local.simulation.protocol import EXECUTING, Phase, Script

# A dense model of 7 billion parameters: two FLOPs a parameter forward and four backward, without attention's own.
PARAMETERS: Final = 7e9
_FLOPS_PER_TOKEN: Final = 6 * PARAMETERS
# Of one node, in one optimizer step: 64 sequences.
TOKENS_PER_STEP: Final = 262_144
TOKENS_PER_SAMPLE: Final = 4096
TOKENS_PER_REPLY: Final = 256


class Work:
    """One node's work since its script began. Moments are virtual unix seconds."""

    def __init__(self, script: Script, part: FleetPart) -> None:
        self._script, self.part = script, part
        known = instance_type(script.instance_type)
        peak = tensor_engine_peak_flops(core_version(known, script.lnc), script.dtype, script.lnc) or 0.0
        self._node_flops = peak * known.logical_cores(script.lnc)

    @property
    def trains(self) -> bool:
        """Whether the node trains; else it serves."""
        return self.part.requests_per_minute is None

    def requests_per_second(self, phase: Phase) -> float:
        """What it answers in ``phase``."""
        return (self.part.requests_per_minute or 0.0) / 60 if phase.kind in EXECUTING else 0.0

    def tokens_per_second(self, phase: Phase) -> float:
        """What all of the node's processes get through in ``phase``."""
        if not self.trains:
            return self.requests_per_second(phase) * TOKENS_PER_REPLY
        share = phase.tensor_engine_percent / 100 if phase.kind in EXECUTING else 0.0
        return self._node_flops * share / _FLOPS_PER_TOKEN

    def tokens(self, now: float) -> float:
        """Tokens since the script began."""
        return _total(self._script, now, self.tokens_per_second)

    def steps(self, now: float) -> float:
        """Optimizer steps since the script began, the part of one that is not done included; 0 where it serves."""
        return self.tokens(now) / TOKENS_PER_STEP if self.trains else 0.0


def _total(script: Script, now: float, rate: Callable[[Phase], float]) -> float:
    """The sum of ``rate`` (of a second) over the seconds that have passed of each phase."""
    starts = [*(phase.start for phase in script.phases), float("inf")]
    spans = [max(0.0, min(now, end) - start) for start, end in pairwise(starts)]
    return sum(rate(phase) * seconds for phase, seconds in zip(script.phases, spans, strict=True))
