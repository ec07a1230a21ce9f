"""The configuration file that neuron-monitor is started with.

Without one the tool chooses its own groups, and it answers a period that it cannot read with five seconds or with
silence. So every group is named, and only whole seconds can be asked for. All groups share one period: what a line
holds when groups are due at different times is not documented.
"""

import json
from pathlib import Path
from typing import Final

from agents.errors import SettingsError

RUNTIME_GROUPS: Final = ("neuroncore_counters", "memory_used", "neuron_runtime_vcpu_usage", "execution_stats")
SYSTEM_GROUPS: Final = ("vcpu_usage", "memory_info", "neuron_hw_counters")


def render(period_seconds: int) -> str:
    """The file's text for one report every ``period_seconds``.

    Raises:
        ValueError: the period is not a positive whole number of seconds.
    """
    if type(period_seconds) is not int or period_seconds < 1:
        raise ValueError(f"period {period_seconds!r}: neuron-monitor takes whole seconds, 1 or more")
    return json.dumps(
        {
            "period": f"{period_seconds}s",
            "neuron_runtimes": [{"tag_filter": ".*", "metrics": [{"type": group} for group in RUNTIME_GROUPS]}],
            "system_metrics": [{"type": group} for group in SYSTEM_GROUPS],
        }
    )


def write(directory: Path, period_seconds: int) -> Path:
    """Write the file into ``directory`` and return its path.

    Raises:
        SettingsError: it cannot be written there.
    """
    path = directory / "neuron-monitor.json"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        path.write_text(render(period_seconds), encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; neuron-monitor cannot be told what to report") from error
    return path
