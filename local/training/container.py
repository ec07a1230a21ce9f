"""A job's container on a simulated node: the same command and environment, as a process in a folder."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fleet.compile_cache.graph import LOCAL_FOLDER
from local.sandbox.machine import PROJECT, Machine
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
