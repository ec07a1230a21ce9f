"""An embedded AWS that outlives the command that started it: where it is, and how to end it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import psutil
from rich.console import Console

from environments import loader
from local.control import EmulatorControl
from local.deployment import ENVIRONMENT, DeploymentError, deploy, missing_tools
from local.emulator_process import EmulatorProcess, EmulatorStartError, aws_environment, listen, pointed_at
from local.processes import end_all
from local.steps import Steps

# Beside the directory that every demo empties.
DIRECTORY: Final = Path(".local/platform")
STATE_FILE: Final = DIRECTORY / "state.json"


@dataclass(frozen=True, slots=True)
class PlatformState:
    """One running embedded AWS; ``started`` tells its process from a later one with the same number."""

    endpoint_url: str
    pid: int
    started: float

    def resources(self) -> int | None:
        """Deployed resources; None when it does not answer."""
        status = EmulatorControl(self.endpoint_url).status()
        return status.resources if status else None

    def process(self) -> psutil.Process | None:
        """Its process, if that still runs."""
        try:
            process = psutil.Process(self.pid)
            return process if abs(process.create_time() - self.started) < 1 else None
        except psutil.Error:
            return None


def up(port: int | None, console: Console) -> None:
    """Start and deploy; on a failure nothing is left running.

    Raises:
        EmulatorStartError: One runs already, or it cannot be started.
    """
    if state := running():
        raise EmulatorStartError(f"one runs already at {state.endpoint_url}: end it with `fleet local down`")
    if problem := missing_tools():
        raise DeploymentError(problem)
    environment = loader.load(ENVIRONMENT)
    emulator = EmulatorProcess(listen(port), DIRECTORY / "emulator", parent=None)
    url = emulator.control.endpoint_url
    try:
        with pointed_at(aws_environment(url, environment.account, environment.region)):
            deploy(environment, emulator, DIRECTORY, Steps(console), None)
        state = PlatformState(url, emulator.process.pid, psutil.Process(emulator.process.pid).create_time())
        STATE_FILE.write_text(json.dumps(asdict(state)), encoding="utf-8")
    except BaseException:
        emulator.stop()
        raise
    credentials = "AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test"
    console.print(f"export AWS_ENDPOINT_URL={url} AWS_REGION={environment.region} {credentials}", soft_wrap=True)
    console.print(f"pages: {emulator.control.inbox_address}")


def running() -> PlatformState | None:
    """The embedded AWS that `up` left, if it still runs."""
    try:
        state = PlatformState(**json.loads(STATE_FILE.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return state if state.process() else None


def down() -> PlatformState | None:
    """End it; what was ended, or None when nothing ran."""
    state = running()
    process = state.process() if state else None
    if process is not None:
        end_all([process, *process.children(recursive=True)], patience=5.0)
    STATE_FILE.unlink(missing_ok=True)
    return state
