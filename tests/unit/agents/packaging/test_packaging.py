"""What a node installs: locked packages, and the promises of the units."""

import configparser
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents import node_agent
from agents.sinks import aws
from stacks.agent_archive import archive, wheels
from tests.support.imports import imported
from tests.support.needs import needs

ROOT = archive.ROOT
PACKAGING = ROOT / "agents" / "packaging"
AGENT_UNIT = "neuron-fleet-agent.service"
UNITS = (AGENT_UNIT, "neuron-fleet-install.service")
needs_systemd = needs("systemd-analyze")


def pins(*path: str) -> dict[str, str]:
    return wheels.pinned(ROOT.joinpath(*path).read_text().splitlines())


def service(name: str = AGENT_UNIT) -> dict[str, str]:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys are case-sensitive
    unit.read(PACKAGING / name)
    return dict(unit["Service"])


def test_the_agent_pins_what_the_project_pins() -> None:
    ours = pins("agents", "requirements.txt")

    assert len(ours) >= 5
    assert ours.items() <= pins("requirements.txt").items()


def test_the_lock_file_holds_every_requirement_in_the_versions_that_the_tests_ran_with() -> None:
    locked = pins("agents", "requirements.lock")

    missing = pins("agents", "requirements.txt").items() - locked.items()
    assert not missing, "run `make agent-lock`"
    assert locked.items() <= pins("constraints.txt").items()


@pytest.mark.parametrize("name", ["agents/requirements.lock", "agents/packaging/installer.lock"])
def test_every_locked_package_has_a_hash_and_names_no_index(name: str) -> None:
    text = (ROOT / name).read_text()
    entries = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace(" \\\n", " ").splitlines()

    assert entries
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9-]+==[^ ]+( +--hash=sha256:[0-9a-f]{64})+", entry)


def test_the_agent_imports_only_what_it_installs() -> None:
    files = [*(ROOT / "agents").rglob("*.py"), *(ROOT / "fleet").rglob("*.py")]

    # Of what boto3 brings along, botocore is the only one that the agent knows.
    installed = {*pins("agents", "requirements.txt"), "botocore"}
    providers = importlib.metadata.packages_distributions()
    foreign = set[str]().union(*map(imported, files)) - set(sys.stdlib_module_names) - {"agents", "fleet", "workload"}
    assert [
        name for name in foreign if not {p.lower().replace("_", "-") for p in providers.get(name, [])} & installed
    ] == []


def test_botocore_keeps_every_service_that_the_code_on_a_node_calls() -> None:
    called = set()
    for path in (ROOT / "agents").rglob("*.py"):
        called |= set(re.findall(r'client\((?:[\w.]+, *)?"([\w-]+)"', path.read_text()))

    assert {"cloudwatch", "logs"} <= called
    assert called <= wheels.SERVICES


def test_the_unit_leaves_time_for_the_last_minute_and_limits_what_the_agent_takes() -> None:
    config: Any = aws.CLIENT_CONFIG
    patience = (config.connect_timeout + config.read_timeout) * config.retries["total_max_attempts"] * 4

    assert int(service()["TimeoutStopSec"]) > patience
    assert {"MemoryMax", "CPUQuota", "TasksMax", "NoNewPrivileges"} <= set(service())


def test_the_watchdog_waits_longer_than_the_loop_ever_waits() -> None:
    assert service()["Type"] == "notify"
    # Two of the longest waits, and the end of a minute with its collectors and its sinks in between.
    assert int(service()["WatchdogSec"]) >= 2 * node_agent._LONGEST_WAIT + 45


def test_the_unit_closes_what_the_agent_does_not_need_and_leaves_open_what_collectors_read() -> None:
    unit = service()

    assert (unit["ProtectSystem"], unit["DevicePolicy"], unit["NoNewPrivileges"]) == ("strict", "closed", "yes")
    assert unit["SystemCallFilter"] == "@system-service"
    assert unit["RestrictAddressFamilies"].split() == ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"]
    # neuron-monitor opens /dev/neuron*, the kernel-log collector /dev/kmsg.
    text = (PACKAGING / AGENT_UNIT).read_text()
    assert re.findall(r"^DeviceAllow=(.*)$", text, re.MULTILINE) == ["char-neuron rw", "/dev/kmsg r"]
    assert unit["ProtectKernelLogs"] == "no"
    assert unit["CapabilityBoundingSet"].split() == ["CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_SYSLOG"]
    # Both would hide the compile cache in /var/tmp, and other users' processes.
    assert "PrivateTmp" not in unit
    assert "ProtectProc" not in unit
    # Workloads look for the socket and the registration folder, also while the agent is restarted.
    assert unit["RuntimeDirectory"].split() == ["neuron-fleet", "neuron-fleet/jobs", "neuron-fleet/serving"]
    assert (unit["RuntimeDirectoryMode"], unit["RuntimeDirectoryPreserve"]) == ("0755", "yes")


def test_the_installer_tries_again_but_not_what_would_only_fail_again() -> None:
    unit = service("neuron-fleet-install.service")

    assert unit["Restart"] == "on-failure"
    assert unit["RestartPreventExitStatus"].split() == ["2", "3"]
    # A oneshot would keep multi-user.target waiting, and cloud-init and the ECS agent behind it.
    assert unit["Type"] == "exec"


def analyzed(tmp_path: Path, *arguments: str, unit: str = AGENT_UNIT) -> subprocess.CompletedProcess[str]:
    # The programs do not exist on this machine, which is not the unit's mistake.
    text = re.sub(r"/opt/neuron-fleet/current/venv/bin/python", "/bin/sh", (PACKAGING / unit).read_text())
    (tmp_path / unit).write_text(text)
    return subprocess.run(
        ["systemd-analyze", *arguments, str(tmp_path / unit)], capture_output=True, text=True, check=False, timeout=60
    )


@needs_systemd
@pytest.mark.parametrize("unit", UNITS)
def test_systemd_understands_every_line_of_the_units(tmp_path: Path, unit: str) -> None:
    run = analyzed(tmp_path, "verify", unit=unit)

    assert (run.returncode, run.stderr) == (0, "")


@needs_systemd
def test_the_exposure_that_systemd_sees_does_not_grow(tmp_path: Path) -> None:
    # 3.4 with systemd 252, in tenths: what is left is root, the network, and what the comments in the unit explain.
    run = analyzed(tmp_path, "security", "--offline=true", "--threshold=35", "--no-pager")

    assert run.returncode == 0, run.stdout[-200:]
