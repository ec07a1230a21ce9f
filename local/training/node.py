"""One node of the run, from its launch to its end: its machine, its agent in virtual time, its ECS agent."""

import shutil
from dataclasses import dataclass
from typing import Final

import boto3
import msgspec

from local.control import EmulatorControl
from local.sandbox.hardware import show_process
from local.sandbox.machine import AGENT_UNIT, Booted, Machine
from local.simulation.lockstep import AgentProcess
from local.simulation.report import FIRST_RUNTIME_PID
from local.simulation.script import Phase, PhaseKind
from local.training.container import Container

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
