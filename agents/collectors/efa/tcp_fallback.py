"""Whether a job's collectives go over TCP although the node has EFA devices.

The libraries fall back in silence, and their logs are the job's own, so the node sees no more than traffic. Four things
together are a sign: the node has EFA devices; the job's environment says that it spans several nodes; in a minute EFA
carried next to nothing; and in the same minute the network interfaces that the job sees carried much in both
directions. Data that is loaded goes one way and checkpoints go the other; only an exchange between workers is heavy
both ways. Where EFA carried the traffic there was no fallback; everything else is not known, and nothing is published.

So this misses a fallback with little traffic, jobs that are started on several nodes without Batch, Slurm or torchrun,
and interfaces that the job does not see. It is wrong about a job that reads and writes storage by the gigabyte in a
minute in which it does not train at all. Where its EFA plugin is missing the Neuron runtime is documented to fail and
not to fall back (``nrt-troubleshoot.rst``); whether libfabric can still choose TCP below it is not verified.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.collectors.reading.cumulative import CumulativeCounters
from agents.collectors.reading.read_only import all_contents

_MIB: Final = 1024**2
# Keep-alives and address handshakes of idle EFA endpoints stay far below.
_IDLE_BYTES: Final = 16 * _MIB
# 1 GiB a minute is 143 Mbit/s, a thousandth of what the smallest EFA node can do.
_HEAVY_BYTES: Final = 1024 * _MIB
_ENVIRONMENT_BYTES: Final = 256 * 1024
_INTERFACES_BYTES: Final = 64 * 1024
_PROCESSES_ASKED: Final = 8
_NODE_COUNTS: Final = ("AWS_BATCH_JOB_NUM_NODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES")
# torchrun tells its workers how many there are in all, and how many of them are on this node.
_WORKERS: Final = ("WORLD_SIZE", "LOCAL_WORLD_SIZE")
# Bridges and their ends repeat what a real interface carries.
_NOT_REAL: Final = ("lo", "docker", "veth", "br-", "virbr", "cni", "cali", "flannel", "dummy", "ifb")


@dataclass(frozen=True, slots=True)
class Fallback:
    """Whether a fallback is seen, and why."""

    is_seen: bool
    reason: str


class TcpFallback:
    """Remembers how much the job's network interfaces have carried; processes are below ``proc``."""

    def __init__(self, proc: Path) -> None:
        self._proc = proc
        self._pid: int | None = None
        self._counters = CumulativeCounters()

    def seen(self, pids: Iterable[int], efa_received: int | None, efa_sent: int | None) -> Fallback | None:
        """The sign, None where nothing is known; the bytes are what EFA carried since the last call."""
        asked = tuple(pids)[:_PROCESSES_ASKED]
        received, sent = self._interfaces(asked)
        nodes = next((count for pid in asked if (count := self._nodes(pid)) is not None), None)
        if nodes is None or nodes < 2 or efa_received is None or efa_sent is None:
            return None
        if max(efa_received, efa_sent) > _IDLE_BYTES:
            return Fallback(False, "EFA carried the traffic")
        if received is None or sent is None or min(received, sent) < _HEAVY_BYTES:
            return None
        reason = (
            f"a job of {nodes} nodes received {received // _MIB} MiB and sent {sent // _MIB} MiB over TCP in a minute, "
            f"and EFA carried {(efa_received + efa_sent) // _MIB} MiB: its collectives do not use EFA"
        )
        return Fallback(True, reason)

    def _interfaces(self, pids: tuple[int, ...]) -> tuple[int | None, int | None]:
        """Bytes received and sent since the last call, as one process sees them: the same one while it lives."""
        for pid in sorted(pids, key=lambda pid: pid != self._pid):
            try:
                text = all_contents(f"{self._proc}/{pid}/net/dev", _INTERFACES_BYTES)
            except OSError:
                continue
            if pid != self._pid:
                self._pid, self._counters = pid, CumulativeCounters()
            received, sent = _carried(text.decode("ascii", "replace"))
            return self._counters.rise("received", received), self._counters.rise("sent", sent)
        return None, None

    def _nodes(self, pid: int) -> int | None:
        try:
            data = all_contents(f"{self._proc}/{pid}/environ", _ENVIRONMENT_BYTES)
        except OSError:
            return None
        pairs = (entry.decode("utf-8", "replace").partition("=") for entry in data.split(b"\0"))
        environment = {name: value for name, _, value in pairs}
        for name in _NODE_COUNTS:
            count = _count(environment, name)
            if count is not None:
                return count
        everywhere, here = (_count(environment, name) for name in _WORKERS)
        return everywhere // here if everywhere and here else None


def _count(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 7 else None


def _carried(text: str) -> tuple[int, int]:
    """Bytes received and sent by real interfaces, of the text of ``net/dev`` (``proc(5)``)."""
    received = sent = 0
    for line in text.splitlines():
        name, separator, figures = line.partition(":")
        fields = figures.split()
        is_real = separator and not name.strip().startswith(_NOT_REAL)
        if is_real and len(fields) >= 9 and fields[0].isdecimal() and fields[8].isdecimal():
            received += int(fields[0])
            sent += int(fields[8])
    return received, sent
