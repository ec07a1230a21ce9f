"""What a node installs: the script's refusals, the unit's promises, and the same versions as the project."""

import configparser
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agents.sinks import aws

ROOT = Path(__file__).parents[3]
PACKAGING = ROOT / "agents" / "packaging"


@pytest.mark.parametrize("arguments", [[], ["--region", "us-east-2"], ["--config-parameter"], ["--unknown", "x"]])
def test_the_script_refuses_what_it_does_not_understand_before_it_changes_anything(arguments: list[str]) -> None:
    result = subprocess.run(
        ["sh", str(PACKAGING / "bootstrap.sh"), *arguments], capture_output=True, text=True, check=False
    )

    assert result.returncode == 2
    assert "--config-parameter NAME --region R" in result.stderr


def test_the_agent_pins_what_the_project_pins() -> None:
    ours = set((ROOT / "requirements.txt").read_text().splitlines())
    pinned = [line for line in (ROOT / "agents" / "requirements.txt").read_text().splitlines() if "==" in line]

    assert len(pinned) == 5
    assert set(pinned) <= ours


def test_the_agent_imports_only_what_it_installs() -> None:
    installed = {"boto3", "botocore", "msgspec", "prometheus_client", "psutil", "typer", "agents", "fleet"}
    imported = set()
    for path in [*(ROOT / "agents").rglob("*.py"), *(ROOT / "fleet").rglob("*.py")]:
        imported |= set(re.findall(r"^(?:from|import) (\w+)", path.read_text(), re.MULTILINE))

    import sys

    assert imported - set(sys.stdlib_module_names) <= installed


def test_the_unit_leaves_time_for_the_last_minute_and_limits_what_the_agent_takes() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys are case-sensitive
    unit.read(PACKAGING / "neuron-fleet-agent.service")
    service = unit["Service"]

    config: Any = aws.CLIENT_CONFIG
    patience = (config.connect_timeout + config.read_timeout) * config.retries["total_max_attempts"] * 4
    assert int(service["TimeoutStopSec"]) > patience
    assert {"MemoryMax", "CPUQuota", "NoNewPrivileges", "ProtectSystem"} <= set(service)
