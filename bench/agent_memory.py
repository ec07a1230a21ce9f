"""Resident memory of the running agent: 10,000 reports of a full node, through a real pipe, to real boto3 clients.

The agent is the production one in a process of its own: ``agents.main.run`` with its sending thread, its spool and
journal on disk, both AWS clients against an endpoint on this machine, and every collector: the machine's own ``/proc``,
and the sysfs, compile cache, kernel log and instance metadata of a made node. Only its clock is not: it moves by a
period with every report, so that fourteen hours take minutes. The bars are 80 MB, and less than 1 MB more in the
second half.
"""

import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final, TypeVar

import psutil

import agents.main
from agents.monitor.process import MonitorLine
from agents.sinks import delivery
from tests.support import agents as configured
from tests.support import kernel_log, metadata_server, samples
from tests.support.compile_cache import CacheFolder
from tests.support.endpoint import serving
from tests.support.neuron_sysfs import NeuronSysfs

T = TypeVar("T")
REPORTS: Final = 10_000
MEGABYTE: Final = 1_000_000
HIGHEST: Final = 80.0
GROWTH: Final = 1.0
_PERIOD: Final = 5.0
_EVERY: Final = 100
_MONITOR: Final = """#!{python}
import signal, sys
line = open({line!r}, "rb").read()
for _ in range({reports}):
    sys.stdout.buffer.write(line)
sys.stdout.flush()
signal.pause()
"""


def run(reports: int = REPORTS) -> None:
    """Print resident megabytes, and whether they keep to the bars."""
    readings, calls = measure(reports)
    half, end, highest = readings[len(readings) // 2], readings[-1], max(readings)
    print(f"agent's memory over {reports} reports of {readings[0]:.1f} MB at first, {calls} calls to AWS:", end=" ")
    print(f"{half:.1f} MB at half, {end:.1f} MB at the end, {highest:.1f} MB at most (bar {HIGHEST:.0f});", end=" ")
    print(f"{end - half:+.2f} MB in the second half (bar {GROWTH:.0f})")


def measure(reports: int) -> tuple[list[float], int]:
    """Resident megabytes of a new agent, every 100 reports, and how many calls it made."""
    with tempfile.TemporaryDirectory() as folder, serving() as endpoint, metadata_server.serving() as metadata:
        environment = {
            **os.environ,
            "AWS_ENDPOINT_URL": endpoint.url,
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            # As the agent's unit has it: what one thread frees, the next one uses.
            "MALLOC_ARENA_MAX": "1",
        }
        command = [sys.executable, "-m", "bench.agent_memory", folder, str(reports), metadata.url]
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
        return json.loads(output), len(endpoint.calls)


class ReportClock:
    """Time that moves by a period with every report; after the last one the agent is told to stop."""

    def __init__(self, reports: int, stop: threading.Event, spool: Path) -> None:
        self.readings: list[float] = []
        self._process = psutil.Process()
        self._left = reports
        self._stop = stop
        self._spool = spool
        self._now = float(configured.MINUTE)

    def now(self) -> float:
        """Virtual unix seconds."""
        return self._now

    def get(self, events: "queue.Queue[T]", timeout: float) -> T:
        """The next event, however long it takes; the monitor is started by an empty wait."""
        if self._left == 0:
            self._stop.set()
            raise queue.Empty
        if timeout == 0:
            raise queue.Empty
        item = events.get(timeout=600)
        if isinstance(item, MonitorLine):
            self._now += _PERIOD
            self._left -= 1
            if self._left % _EVERY == 0:
                # Sending may be behind a clock that runs this fast; what waits for it is not what is measured.
                while any(self._spool.glob("*/*.batch")):
                    time.sleep(0.005)
                self.readings.append(self._process.memory_info().rss / MEGABYTE)
        return item


def agent(folder: Path, reports: int, metadata: str) -> list[float]:
    """Run one in this process."""
    line, monitor = folder / "line", folder / "neuron-monitor"
    line.write_bytes(samples.line(samples.full_node()))
    monitor.write_text(_MONITOR.format(python=sys.executable, line=str(line), reports=reports))
    monitor.chmod(0o755)
    config = configured.config(
        neuron_monitor=str(monitor),
        run_directory=str(folder / "run"),
        spool_directory=str(folder / "spool"),
        sysfs=str(folder / "sys"),
        kernel_log=str(folder / "kmsg"),
        compile_cache=str(folder / "cache"),
        statsd_port=_free_port(),
        instance_metadata=metadata,
    )
    _make_node(folder)
    # A minute passes in less than a second: there is no time to spread its batch over.
    delivery.SPREAD = 0.0  # type: ignore[misc]  # of this process only
    stop = threading.Event()
    clock = ReportClock(reports, stop, folder / "spool")
    agents.main.run(config, clock, stop)
    return clock.readings


def _make_node(folder: Path) -> None:
    NeuronSysfs(folder / "sys", devices=16, cores=2)
    cache = CacheFolder(folder / "cache")
    for number in range(100):
        cache.compiled(number, configured.MINUTE - 600, configured.MINUTE - 300)
    kernel_log.append(folder / "kmsg", kernel_log.record(1, "neuron: module loaded"))


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(agent(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
