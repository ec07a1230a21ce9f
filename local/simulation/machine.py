"""The parts of a node's machine that the agent looks at beside neuron-monitor: job registrations, /proc and the rest.

Compiler processes appear while the script compiles, runtime processes while a job is there.
"""

import json
import shutil
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from local.simulation.compile_cache import CompileCache
from local.simulation.efa import EfaDevices
from local.simulation.fleet_part import FleetPart
from local.simulation.protocol import PhaseKind, Script
from local.simulation.report import FIRST_RUNTIME_PID
from local.simulation.work import Work
from local.simulation.workload import Workload

_COMPILER_PID: Final = 52000
_COMPILER_COMMAND: Final = ("neuronx-cc", "compile", "--framework=XLA", "model.hlo_module.pb", "--target=trn1")
_TRAINER_COMMAND: Final = ("python3", "train.py")


class _Part(Protocol):
    def show(self, now: float) -> None:
        """Be what it is at virtual second ``now``."""


@dataclass(frozen=True, slots=True)
class JobRegistration:
    """What the job's launcher writes into the agent's run directory."""

    job_id: str
    name: str
    owner: str


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
