"""What can go wrong on a person's machine, and what the person should do about it."""

from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from environments.loader import EnvironmentFileError
from local.control import EmulatorGoneError
from local.dashboards_page.cloud import DashboardsPageError
from local.deployment import DeploymentError
from local.directory import DirectoryError
from local.emulator_process import EmulatorStartError
from local.sandbox.machine import BootError
from local.scenario_file import ScenarioFileError
from local.simulation.host_report import UnknownReportError
from local.simulation.lockstep import NodeFailedError
from local.simulation.placement import ScenarioMismatchError
from local.training.run import RunError

EXPECTED: Final = (
    BootError,
    BotoCoreError,
    ClientError,
    DashboardsPageError,
    DeploymentError,
    DirectoryError,
    EmulatorGoneError,
    EmulatorStartError,
    EnvironmentFileError,
    NodeFailedError,
    RunError,
    ScenarioFileError,
    ScenarioMismatchError,
    UnknownReportError,
)


def explain(error: BaseException) -> str:
    """The error's own words, and what to do where they do not say it."""
    match error:
        case EmulatorGoneError() | BotoCoreError():
            return f"{error}\nit may have ended: read emulator.log below .local, then run the command again"
        case ClientError():
            return f"the embedded AWS refused: {error}"
        case _:
            return str(error)
