"""One node of the run, from its launch to its end: its machine, its agent in virtual time, its container."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import boto3
import msgspec

from fleet.compile_cache.graph import LOCAL_FOLDER
from local.control import EmulatorControl
from local.sandbox.hardware import show_process
from local.sandbox.machine import AGENT_UNIT, PROJECT, Booted, Machine
from local.simulation.lockstep import AgentProcess
from local.simulation.report import FIRST_RUNTIME_PID
from local.simulation.script import Phase, PhaseKind
from local.training.image.frameworks import FABRIC

# ECS ends a container with SIGTERM and, after this long, with SIGKILL (stopTimeout's default).
STOP_SECONDS: Final = 30.0
_RUN_DIRECTORY: Final = "/run/neuron-fleet"
_SHARED_TIER: Final = "mnt/neuron-compile-cache"


class Container:
    """One task's. ``told`` is its container as the embedded AWS tells it: command, environment, mounts."""

    def __init__(self, task: str, told: Mapping[str, Any], machine: Machine, fabric: str) -> None:
        self.task, self.told = task, told
        folder = machine.root / "var/lib/docker" / task.rpartition("/")[2]
        (folder / "bin").mkdir(parents=True)
        (folder / "scratch").mkdir()
        self.log_file = folder / "output.log"
        _program(folder / "bin/python", "")
        _program(folder / "bin/torchrun", " -m local.training.image.torchrun")
        # What Batch, the job definition and the submission say; then what only this machine needs.
        self.told_environment: dict[str, str] = dict(told["environment"])
        mounted = {each["container"]: each["host"] for each in told["mounts"]}
        run_directory = f"{machine.root}{mounted.get(_RUN_DIRECTORY, '/nowhere')}"
        # Each node has a file system of its own where EFS would be one for all: nothing is compiled here.
        shared_tier = machine.root / _SHARED_TIER
        shared_tier.mkdir(parents=True, exist_ok=True)
        environment = {
            **{name: value for name, value in machine.environment.items() if name.startswith("AWS_")},
            **self.told_environment,
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            "PYTHONPATH": str(PROJECT),
            "PYTHONUNBUFFERED": "1",
            "NEURON_FLEET_SCRATCH": str(folder / "scratch"),
            "NEURON_FLEET_RUN_DIRECTORY": run_directory,
            "NEURON_FLEET_CACHE_LOCAL": f"{machine.root}{LOCAL_FOLDER}",
            "NEURON_FLEET_CACHE_SHARED": str(shared_tier),
            FABRIC: fabric,
        }
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                told["command"], env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, executable=str(folder / "bin" / told["command"][0]),
            )  # fmt: skip
        self._stopped_at: float | None = None

    @property
    def index(self) -> int:
        """Which node of the job this is."""
        return int(self.told_environment["AWS_BATCH_JOB_NODE_INDEX"])

    @property
    def exit_code(self) -> int | None:
        """As Docker tells it: 137 for one that was killed. None while it runs."""
        code = self.process.poll()
        return code if code is None or code >= 0 else 128 - code

    def stop(self) -> None:
        """SIGTERM, once; SIGKILL when it takes too long."""
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()
            # To the first process only, as ECS does: it is the container's business to pass it on.
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)
        elif time.monotonic() - self._stopped_at > STOP_SECONDS:
            self.kill()

    def kill(self) -> None:
        """End all of it at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def output(self) -> str:
        """What it has printed."""
        return self.log_file.read_text(encoding="utf-8", errors="replace")


def _program(path: Path, arguments: str) -> None:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


_BUSY_PERCENT: Final = (39.0, 96.0)


@dataclass(slots=True)
class Node:
    """``started`` and ``ended`` are the virtual seconds between which it was paid for; ``end`` says why it ended."""

    instance: str
    machine: Machine
    started: float
    booted: Booted
    has_joined: bool = False
    container: Container | None = None
    ended: float | None = None
    end: str = ""
    job_minutes: int = 0
    shuts_down: bool = False
    said: str = ""
    """What its last container printed."""

    @property
    def runs_container(self) -> bool:
        """Whether a container's process is alive."""
        return self.container is not None and self.container.exit_code is None

    def goes_through(self, kind: PhaseKind, now: float) -> None:
        """What neuron-monitor shows from ``now`` on."""
        engine, busy = _BUSY_PERCENT if kind is PhaseKind.RUNNING else (0.0, 0.0)
        phases = self.machine.script.phases
        if phases[-1].kind is not kind:
            phase = Phase(now, kind, engine, busy)
            self.machine.script = msgspec.structs.replace(self.machine.script, phases=(*phases, phase))

    def report(self, control: EmulatorControl, region: str, fabric: str, now: float) -> None:
        """Its ECS agent's turn: say what became of the container, and do what is wanted. Ends where nothing changes."""
        told = control.report_tasks(region, self.instance, self._states())
        if self.container is not None and self.container.exit_code is not None:
            self._send_log()
            self.container = None
            shutil.rmtree(self.machine.proc / str(FIRST_RUNTIME_PID))
            self.goes_through(PhaseKind.NO_JOB, now)
        wanted = {each["task"]: each for each in told}
        if self.container is not None and not wanted.get(self.container.task, {"run": False})["run"]:
            self.container.stop()
        for task, each in wanted.items():
            if each["run"] and self.container is None:
                self.container = Container(task, each["container"], self.machine, fabric)
                environment = self.container.told_environment
                show_process(self.machine.proc, FIRST_RUNTIME_PID, " ".join(each["container"]["command"]), environment)
                self.goes_through(PhaseKind.RUNNING, now)
                control.report_tasks(region, self.instance, self._states())

    def _states(self) -> list[dict[str, object]]:
        if self.container is None:
            return []
        code, stream = self.container.exit_code, self._log_stream(self.container)
        if code is None:
            return [{"task": self.container.task, "status": "RUNNING", "log_stream": stream}]
        return [{"task": self.container.task, "status": "STOPPED", "exit_code": code, "log_stream": stream}]

    def _log_stream(self, container: Container) -> str:
        return f"{container.told['log_prefix']}/default/{container.task.rpartition('/')[2]}"

    def _send_log(self) -> None:
        """The awslogs driver: what the container printed, to where its definition says."""
        if self.container is None:
            return
        self.said = self.container.output()
        place = {"logGroupName": self.container.told["log_group"], "logStreamName": self._log_stream(self.container)}
        logs = boto3.client("logs")
        logs.create_log_stream(**place)
        lines = [line for line in self.said.splitlines() if line.strip()]
        at = round(self.started * 1000)
        if lines:
            logs.put_log_events(**place, logEvents=[{"timestamp": at, "message": line} for line in lines])

    def power_off(self, now: float, why: str) -> None:
        """Everything on it ends."""
        if self.ended is None:
            self.ended, self.end = now, why
            if self.container is not None:
                self.container.kill()
            self.machine.power_off()

    @property
    def agent(self) -> AgentProcess:
        """Its agent, as its unit runs it."""
        systemd = self.machine.systemd
        return AgentProcess(f"node {self.instance}", systemd.running[AGENT_UNIT], systemd.journal(AGENT_UNIT))

    def is_paid(self) -> bool:
        """Whether it is there."""
        return self.ended is None
