"""One node: a folder that boots with the user data of its launch template, and whatever runs in it."""

import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from local.sandbox import hardware
from local.sandbox.agent import Agent
from local.sandbox.boot_data import injected, scripts
from local.sandbox.hardware import Hardware
from local.sandbox.systemd import Systemd
from local.sandbox.units import Unit
from local.simulation.machine import write_launcher
from local.simulation.script import Script

AGENT_UNIT: Final = "neuron-fleet-agent.service"
ECS_UNIT: Final = "ecs.service"
PROJECT: Final = Path(__file__).resolve().parents[2]
_BOOT_SECONDS: Final = 300.0
_FOLDERS: Final = (
    "etc/systemd/system", "opt", "proc", "run", "tmp", "usr/lib/systemd/system", "usr/libexec", "var/lib", "var/log",
)  # fmt: skip
# As the image has it, without what nobody here looks at.
_ECS: Final = "[Unit]\nDescription=Amazon ECS agent\n[Service]\nExecStart=/usr/libexec/amazon-ecs-init start\n"


@dataclass(frozen=True, slots=True)
class Booted:
    """How a boot went: the gate's word (passed, failed, or empty), and whether the ECS agent has started."""

    gate: str
    joins: bool


class Machine:
    """A node below ``folder``. ``metadata`` is its instance metadata's address, ``aws`` how AWS is reached."""

    def __init__(self, folder: Path, node: Hardware, script: Script, metadata: str, aws: Mapping[str, str]) -> None:
        self.root, self.bin = folder / "root", folder / "bin"
        self.calls_file = folder / "calls"
        self.script = script
        self._metadata, self._start = metadata, script.phases[0].start
        for name in _FOLDERS:
            (self.root / name).mkdir(parents=True)
        hardware.show(node, self.root, str(uuid.uuid5(uuid.NAMESPACE_OID, script.node)))
        (self.root / "usr/lib/systemd/system" / ECS_UNIT).write_text(_ECS, encoding="utf-8")
        ecs = self.root / "usr/libexec/amazon-ecs-init"
        ecs.write_text("#!/bin/sh\nexec sleep 2147483647\n", encoding="utf-8")
        ecs.chmod(0o755)
        self.environment = {
            **{name: value for name, value in aws.items() if name.startswith("AWS_")},
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(self.root / "tmp"),
            "TMPDIR": str(self.root / "tmp"),
            "NEURON_FLEET_ROOT": str(self.root),
            "NEURON_FLEET_RUN": str(self.run_directory),
            # Looks of the stand-in for sleep are ten times as many in the same time.
            "NEURON_FLEET_PATIENCE": "6000",
            "SANDBOX_CONFIG": str(folder / "config.json"),
            "SANDBOX_PACKAGES": hardware.packages(),
        }
        (folder / "config.json").write_text(json.dumps(self._configuration()), encoding="utf-8")
        monitor = self.root / "opt/aws/neuron/bin/neuron-monitor"
        monitor.parent.mkdir(parents=True)
        write_launcher(monitor, sys.executable)
        self.systemd = Systemd(self.root, self.environment, self._in_virtual_time)
        hardware.install(self.bin, self.systemd.socket, hardware.tools(node))

    @property
    def run_directory(self) -> Path:
        """The agent's, which containers see too."""
        return self.root / "run/neuron-fleet"

    @property
    def proc(self) -> Path:
        """What the agent takes for /proc."""
        return self.root / "proc"

    def _configuration(self) -> dict[str, object]:
        """What this node's configuration says differently: paths, the metadata's address, a port of its own."""
        return {
            "neuron_monitor": str(self.root / "opt/aws/neuron/bin/neuron-monitor"),
            "run_directory": str(self.run_directory),
            "spool_directory": str(self.root / "var/lib/neuron-fleet/spool"),
            "proc": str(self.proc),
            "sysfs": str(self.root / "sys"),
            "kernel_log": str(self.root / "dev/kmsg"),
            "compile_cache": str(self.root / "var/tmp/neuron-compile-cache"),
            # All nodes share one loopback address; their workloads write to the Unix sockets.
            "statsd_port": _free_port(),
            "instance_metadata": self._metadata,
            "prometheus": None,
            "otlp": None,
        }

    def boot(self, user_data: str) -> Booted:
        """Run the user data, then what systemd starts after it; returns when the ECS agent has started or may not.

        Raises:
            BootError: a script of the user data failed or hangs.
        """
        log = self.systemd.journal("cloud-init-output")
        for number, text in enumerate(scripts(user_data)):
            script = self.root / f"var/lib/cloud-{number}.sh"
            script.write_text(injected(text, str(self.root)), encoding="utf-8")
            code = self._end_of(script, log)
            if code is None:
                raise BootError(f"{self.script.node}: the user data hangs after {_BOOT_SECONDS:g} s: see {log}")
            if code:
                raise BootError(f"{self.script.node}: the user data ended with {code}: see {log}")
        joins = self.systemd.systemctl(["start", ECS_UNIT])[0] == 0
        verdict = self.run_directory / "gate"
        return Booted(verdict.read_text(encoding="utf-8").strip() if verdict.exists() else "", joins)

    def _end_of(self, script: Path, log: Path) -> int | None:
        """The script's exit code; None for one that had to be ended, with all that it had started."""
        with log.open("ab") as output:
            process = subprocess.Popen(
                ["bash", str(script)], env=self.environment, cwd=self.root, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            return process.wait(_BOOT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None

    def _in_virtual_time(
        self, unit: Unit, command: list[str], environment: dict[str, str]
    ) -> tuple[list[str], dict[str, str]]:
        """The agent's unit is run as it says, but for its clock; the rest of the project comes after it on the path."""
        if unit.name != AGENT_UNIT:
            return command, environment
        folder = self.root / "opt/neuron-fleet/current"
        told = Agent(command[-1], str(self.root / "run/m.sock"), self._start, self.script, str(folder))
        path = os.pathsep.join([environment["PYTHONPATH"], str(PROJECT)])
        program = [command[0], "-m", "local.sandbox.agent", msgspec.json.encode(told).decode()]
        return program, {**environment, "PYTHONPATH": path}

    def calls(self) -> list[str]:
        """What the stand-ins on the node's PATH were asked, in order."""
        return self.calls_file.read_text(encoding="utf-8").splitlines() if self.calls_file.exists() else []

    def power_off(self) -> None:
        """Everything that runs in it ends at once."""
        self.systemd.power_off()


class BootError(RuntimeError):
    """A node did not boot; the message names it and the file with the output."""


def _free_port() -> int:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
