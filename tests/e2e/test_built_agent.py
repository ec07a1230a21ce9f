"""The archive that ``make agent`` made, installed and used as on a node: no network, nothing of this environment."""

import json
import os
from pathlib import Path

from stacks.agent_archive import archive, wheels
from tests.support import samples
from tests.support.agent_installation import Machine
from tests.support.needs import needs
from tests.support.neuron_sysfs import NeuronSysfs

BUILT = os.environ.get("AGENT_ARCHIVE", "")
CONFIG = {
    "environment": "dev",
    "fleet": "pretrain",
    "owner": "models",
    "region": "us-east-2",
    "purpose": "training",
    "instance_type": "inf2.xlarge",
    "log_group": "/neuron-fleet/dev/nodes",
}
pytestmark = needs("a Python that nodes have")
CLIENTS = """
import boto3, msgspec, psutil, sys
for name in sys.argv[1:]:
    client = boto3.client(name, region_name="us-east-2", aws_access_key_id="x", aws_secret_access_key="x")
    print(name, client.meta.endpoint_url)
"""


def test_the_built_agent_is_installed_twice_and_works(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    NeuronSysfs(tmp_path / "sys", devices=1)
    run_directory = machine.root / "run/neuron-fleet"
    places = {"sysfs": str(tmp_path / "sys"), "kernel_log": str(tmp_path / "none"), "run_directory": str(run_directory)}
    machine.publish(archive.checked(archive.ROOT / BUILT), CONFIG | places)

    first, second = machine.install(), machine.install()

    digest = archive.code().digest[:16]
    assert (first.returncode, first.stderr) == (0, "")
    # The health gate speaks at the first installation, and once in a boot.
    assert "passed devices: 1 of 1 Neuron devices that a inf2.xlarge has\n" in first.stdout
    assert first.stdout.endswith(f"neuron-fleet bootstrap: version {digest} runs\n")
    assert (run_directory / "gate").read_text() == "passed\n"
    assert second.stdout == f"neuron-fleet bootstrap: version {digest} runs; nothing to change\n"

    command = str(machine.root / "usr/local/bin/fleet-agent")
    (tmp_path / "report.json").write_bytes(samples.line(samples.full_node()))
    inspected = machine.run([command, "inspect", str(tmp_path / "report.json"), "--json"])
    assert (inspected.returncode, inspected.stderr) == (0, "")
    assert [state["state"] for state in json.loads(inspected.stdout)["states"]] == ["RUNNING"]

    status = machine.run([command, "status", "--run-directory", str(tmp_path)])
    assert (status.returncode, status.stdout) == (1, "")
    assert "the agent does not run, or not yet for a minute" in status.stderr

    services = sorted(wheels.SERVICES)
    python = str(machine.folder / "current/venv/bin/python")
    clients = machine.run([python, "-c", CLIENTS, *services])
    assert clients.stderr == ""
    assert [line.split()[0] for line in clients.stdout.splitlines()] == services
