"""What the workload of a simulated node tells the agent, as ``docs/workload-metrics.md`` asks real ones to.

Each rank sends a datagram whenever virtual time has moved, to the Unix socket alone: all nodes share one machine and
its ports. A datagram is in the agent's hands before the minute can end, so that a minute's figures are always the same.
What a node does not do it does not speak of: no line says zero.

How much a node has worked are whole figures of its script and of virtual time, and of nothing else. Training goes at
the speed of the tensor engines, serving at that of the requests: a data loader that starves the engines makes fewer
tokens, and an endpoint whose monitor is dead goes on answering.
"""

import math
import random
import socket
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

from fleet.instances import instance_type, tensor_engine_peak_flops
from local.simulation.host_report import core_version
from local.simulation.monitor_link import REAL_LIMIT_SECONDS
from local.simulation.script import EXECUTING, FleetPart, Phase, Script

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


# A loss that falls with the root of the steps, from about ln(32000), what a guess among a vocabulary costs.
_LOWEST_LOSS: Final = 2.0
_HEIGHT: Final = 8.4
_BEND_STEPS: Final = 20
# A reply streams for this long; the load balancer's latency is that of its beginning.
_REPLY_SECONDS: Final = 6.0
_QUEUE_SECONDS: Final = 0.05


class Workload:
    """The processes of the job ``job_id`` on one node; they write to ``path``."""

    def __init__(self, path: Path, script: Script, work: Work, job_id: str) -> None:
        self._path, self._script, self._work, self._job_id = path, script, work, job_id
        self._last = script.phases[0].start

    def show(self, now: float) -> None:
        """Tell what was done since the last moment."""
        since, self._last = self._last, max(now, self._last)
        said = self._trained if self._work.trains else self._served
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as agent:
            # The agent's reader is a thread of this process: a full socket is read while we wait.
            agent.settimeout(REAL_LIMIT_SECONDS)
            for rank in range(self._script.runtimes):
                tags = f"|#job:{self._job_id},rank:{rank}"
                text = "\n".join(f"neuron_fleet.{line}{tags}" for line in said(rank, since, now))
                # A workload outlives its agent, which is not there before time begins.
                with suppress(FileNotFoundError, ConnectionRefusedError):
                    if text:
                        agent.sendto(text.encode(), str(self._path))

    def _trained(self, rank: int, since: float, now: float) -> list[str]:
        tokens, samples = (self._share(since, now, size) for size in (1, TOKENS_PER_SAMPLE))
        lines = [f"tokens:{tokens}|c"] if tokens else []
        lines += [f"samples:{samples}|c"] if samples else []
        step = int(self._work.steps(now))
        if step == int(self._work.steps(since)):
            return lines
        speed = self._work.tokens_per_second(self._script.phase_before(now))
        seconds = TOKENS_PER_STEP / speed * self._noise(f"{step}/{rank}", 0.01) if speed else 0.0
        lines += [f"loss:{self._loss(step):.5f}|g", f"step:{step}|g"]
        return [*lines, f"step_seconds:{seconds:.3f}|h"] if seconds else lines

    def _loss(self, step: int) -> float:
        # The same on every rank and node: it was averaged over the job before.
        falling = _LOWEST_LOSS + _HEIGHT / math.sqrt(1 + step / _BEND_STEPS)
        return falling * self._noise(str(step), 0.01, self._job_id)

    def _served(self, rank: int, since: float, now: float) -> list[str]:
        requests = self._work.requests_per_second(self._script.phase_before(now)) / self._script.runtimes
        tokens = self._share(since, now, 1)
        if not requests or not tokens:
            return []
        moment = f"{now - self._script.phases[0].start:.0f}/{rank}"
        # Little's law: what is in flight is what arrives in the time that one stays.
        in_flight = requests * _REPLY_SECONDS * self._noise(moment, 0.05)
        queued = _QUEUE_SECONDS * self._noise(f"queue/{moment}", 0.2)
        return [f"tokens:{tokens}|c", f"requests_in_flight:{in_flight:.2f}|g", f"queue_seconds:{queued:.4f}|h"]

    def _share(self, since: float, now: float, size: int) -> int:
        """One rank's whole units of ``size`` tokens: no fraction is lost between two moments."""
        of_all = size * self._script.runtimes
        return int(self._work.tokens(now) / of_all) - int(self._work.tokens(since) / of_all)

    def _noise(self, moment: str, spread: float, whose: str = "") -> float:
        """A factor around 1, the same in every run; ``whose`` it is, else this node's own."""
        seed = f"{self._script.seed}/{whose or self._script.node}/{moment}"
        return 1 + random.Random(seed).uniform(-spread, spread)  # noqa: S311 - noise, not a secret
