"""The parts of a node's machine that the agent looks at beside neuron-monitor: job registrations, /proc and the rest.

Compiler processes appear while the script compiles, runtime processes while a job is there. EFA's hardware counters in
sysfs grow with the job's steps: whether the network cards of every simulated type count retransmissions is not
verified; here all of them do.
"""

import json
import shutil
import sys
import uuid
from pathlib import Path
from typing import Final, Protocol

from local.simulation.compile_cache import CompileCache
from local.simulation.report import FIRST_RUNTIME_PID
from local.simulation.script import FleetPart, JobRegistration, PhaseKind, Script
from local.simulation.workload import PARAMETERS, Work, Workload

_BYTES_PER_PARAMETER: Final = 2
# A healthy network's: one packet in about 60,000 of 8 KiB.
_BYTES_PER_RETRANSMIT: Final = 500_000_000
_MINUTE_SECONDS: Final = 60
_DRIVER: Final = "/sys/bus/pci/drivers/efa"


class EfaDevices:
    """The devices below ``sysfs``, as many as the node's part says; their total is written when a minute ends."""

    def __init__(self, sysfs: Path, work: Work) -> None:
        self._work, self._carried = work, 0
        devices = [sysfs / f"class/infiniband/rdmap{16 + index}s0" for index in range(work.part.efa_devices)]
        self._counters = [device / "ports/1/hw_counters" for device in devices]
        for device, counters in zip(devices, self._counters, strict=True):
            counters.mkdir(parents=True)
            (device / "device").mkdir()
            (device / "device/driver").symlink_to(_DRIVER)
            (counters / "rx_drops").write_text("0\n", encoding="ascii")
            _write(counters, 0)

    def show(self, now: float) -> None:
        """Make the counters what they are at virtual second ``now``."""
        # The agent reads them then and never between.
        if now % _MINUTE_SECONDS or not self._counters:
            return
        nodes = self._work.part.nodes
        # A ring's all-reduce: every node sends, and receives, so much of the gradients in each step.
        step = 2 * (nodes - 1) / nodes * PARAMETERS * _BYTES_PER_PARAMETER
        carried = int(self._work.steps(now) * step / len(self._counters))
        if carried == self._carried:
            return
        self._carried = carried
        for counters in self._counters:
            _write(counters, carried)


def _write(counters: Path, carried: int) -> None:
    trouble = carried // _BYTES_PER_RETRANSMIT
    for name, value in (("rx_bytes", carried), ("tx_bytes", carried), ("retrans_pkts", trouble)):
        (counters / name).write_text(f"{value}\n", encoding="ascii")


_COMPILER_PID: Final = 52000
_COMPILER_COMMAND: Final = ("neuronx-cc", "compile", "--framework=XLA", "model.hlo_module.pb", "--target=trn1")
_TRAINER_COMMAND: Final = ("python3", "train.py")


class _Part(Protocol):
    def show(self, now: float) -> None:
        """Be what it is at virtual second ``now``."""


class Machine:
    """One node's directories under ``root``, kept as the script says."""

    def __init__(self, root: Path, script: Script, job: JobRegistration | None, part: FleetPart | None = None) -> None:
        self.run_directory = root / "run"
        self.spool_directory = root / "spool"
        self.proc = root / "proc"
        # Also where nothing is shown: the agent must not look at the real machine instead.
        self.sysfs = root / "sys"
        self.kernel_log = root / "kmsg"
        self.compile_cache = root / "compile-cache"
        self.monitor_socket = root / "monitor.sock"
        self.neuron_monitor = root / "neuron-monitor"
        self._script = script
        self._job = job
        self._shown: PhaseKind | None = None
        for directory in (self.run_directory / "jobs", self.spool_directory, self.proc):
            directory.mkdir(parents=True, exist_ok=True)
        work = Work(script, part or FleetPart())
        self._parts: list[_Part] = [CompileCache(self.compile_cache, script, work.part), EfaDevices(self.sysfs, work)]
        if job:
            # Without one the agent could not tell whose the figures are.
            self._parts.append(Workload(self.run_directory / "statsd.sock", script, work, job.job_id))
        # What AWS Batch tells every container of a job of several nodes.
        self._trainer = b"AWS_BATCH_JOB_NUM_NODES=%d\0" % work.part.nodes if work.part.efa_devices else b""
        write_launcher(self.neuron_monitor, sys.executable)
        boot = self.proc / "sys/kernel/random/boot_id"
        boot.parent.mkdir(parents=True)
        boot.write_text(f"{uuid.uuid5(uuid.NAMESPACE_OID, script.node)}\n", encoding="utf-8")

    def show(self, now: float) -> None:
        """Make the directories what they are at virtual second ``now``."""
        for part in self._parts:
            part.show(now)
        kind = self._script.phase_before(now).kind
        if kind is self._shown:
            return
        self._shown = kind
        self._register_job(present=kind is not PhaseKind.NO_JOB)
        self._mark_checkpoint(present=kind is PhaseKind.CHECKPOINT)
        self._show_processes(
            range(_COMPILER_PID, _COMPILER_PID + 8), _COMPILER_COMMAND, present=kind is PhaseKind.COMPILING
        )
        runtimes = range(FIRST_RUNTIME_PID, FIRST_RUNTIME_PID + self._script.runtimes)
        self._show_processes(runtimes, _TRAINER_COMMAND, present=kind is not PhaseKind.NO_JOB)

    def _register_job(self, *, present: bool) -> None:
        if self._job is None:
            return
        path = self.run_directory / "jobs" / f"{self._job.job_id}.json"
        if not present:
            path.unlink(missing_ok=True)
            return
        registration = {
            "job_id": self._job.job_id,
            "name": self._job.name,
            "owner": self._job.owner,
            "cores": None,
            "tokens_wanted": None,
        }
        path.write_text(json.dumps(registration), encoding="utf-8")

    def _mark_checkpoint(self, *, present: bool) -> None:
        marker = self.run_directory / "checkpoint"
        if present:
            marker.touch()
        else:
            marker.unlink(missing_ok=True)

    def _show_processes(self, pids: range, command: tuple[str, ...], *, present: bool) -> None:
        for pid in pids:
            directory = self.proc / str(pid)
            if not present:
                shutil.rmtree(directory, ignore_errors=True)
            elif not directory.exists():
                directory.mkdir()
                (directory / "comm").write_text(command[0] + "\n", encoding="utf-8")
                (directory / "cmdline").write_bytes("\0".join(command).encode() + b"\0")
                (directory / "environ").write_bytes(b"HOME=/root\0" + self._trainer)


def write_launcher(path: Path, python: str) -> None:
    """A program that can be started by its path, as the real one is; the interpreter's own path may hold spaces."""
    path.write_text(f'#!/bin/sh\nexec "{python}" -m local.simulation.neuron_monitor "$@"\n', encoding="utf-8")
    path.chmod(0o755)
