"""The gate on a node made of files: what it prints, the verdict it leaves, and what becomes of that in the agent."""

import json
import subprocess
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from agents.collectors.collector import Request
from agents.collectors.gate import GateCollector
from agents.collectors.reading.boot_memory import BootMemory
from agents.gate import verdict
from agents.main import app
from fleet.accelerators import GIB
from fleet.hardware_errors import HEALTH_GATE
from tests.support import kernel_log
from tests.support.agent_installation import PACKAGING
from tests.support.neuron_sysfs import NeuronSysfs

BOOT = "0a1b2c3d"
NODE = {
    "environment": "prod",
    "fleet": "chat",
    "owner": "chat",
    "region": "us-east-2",
    "purpose": "inference",
    "instance_type": "inf2.24xlarge",
    "log_group": "/nodes",
}


class GateNode:
    """An inf2.24xlarge: six devices of two cores."""

    def __init__(self, folder: Path, **config: object) -> None:
        self.folder = folder
        self.run_directory = folder / "run"
        self.outputs = folder / "outputs"
        self.config = folder / "agent.json"
        self.outputs.mkdir(parents=True)
        boot = folder / "proc/sys/kernel/random/boot_id"
        boot.parent.mkdir(parents=True)
        boot.write_text(f"{BOOT}\n")
        (folder / "kmsg").write_text(kernel_log.record(1, "neuron: loaded"))
        places = {"run_directory": self.run_directory, "proc": folder / "proc", "sysfs": folder / "sys"}
        places["kernel_log"] = folder / "kmsg"
        self.config.write_text(json.dumps(NODE | {name: str(path) for name, path in places.items()} | config))

    def output(self, tool: str, text: str, status: int = 0) -> None:
        (self.outputs / f"{tool}.out").write_text(text)
        (self.outputs / f"{tool}.status").write_text(f"{status}\n")

    def judged(self, *arguments: str) -> tuple[int, str]:
        command = ["gate", "--config", str(self.config), "--outputs", str(self.outputs), "--root", str(self.folder)]
        answer = CliRunner().invoke(app, [*command, *arguments])
        return answer.exit_code, answer.output

    def collector(self) -> GateCollector:
        return GateCollector(self.run_directory, BOOT, BootMemory(self.folder / "spool/gate.json", BOOT))


@pytest.fixture
def node(tmp_path: Path) -> GateNode:
    NeuronSysfs(tmp_path / "sys", devices=6)
    return GateNode(tmp_path)


def listed(devices: int, memory: int = 32 * GIB) -> str:
    """What neuron-ls printed on a trn1.2xlarge, for more devices."""
    one: dict[str, object] = {
        "bdf": "0000:00:1e.0",
        "connected_to": None,
        "nc_count": 2,
        "memory_size": memory,
        "neuron_processes": [],
    }
    return json.dumps([{"neuron_device": index, **one} for index in range(devices)])


def test_a_sound_node_passes_and_says_so_to_the_boot_and_in_every_event(node: GateNode) -> None:
    node.output("neuron-ls", listed(6))
    node.output("nccom-test", "  size(B) ...\nAvg bus bandwidth:      40.6901GB/s\n")

    code, said = node.judged()

    assert code == 0
    assert "passed devices: 6 of 6 Neuron devices that a inf2.24xlarge has" in said
    assert "passed memory: 6 devices have their memory" in said
    assert "passed collective: an all-reduce over the node's cores came to its end" in said
    assert (node.run_directory / "gate").read_text() == "passed\n"
    told = node.collector().collect(Request(0.0))
    assert told.event["gate"]["devices"] == "passed"
    assert told.event["gate"]["driver"] == "open"
    assert (told.hardware_errors, told.problems) == ((), ())


def test_a_node_that_fails_is_a_fault_with_its_reason_and_counts_once_a_boot(node: GateNode) -> None:
    kernel_log.append(node.folder / "kmsg", kernel_log.record(2, kernel_log.hardware("HBM_UNCORRECTABLE_ERROR", 3)))
    node.output("neuron-ls", listed(5))
    node.output("nccom-test", "error: nrt_init failed\n", status=1)

    code, said = node.judged()

    assert code == 1
    assert "failed collective: an all-reduce over the node's cores failed: error: nrt_init failed" in said
    assert (node.run_directory / "gate").read_text() == "failed\n"
    collector = node.collector()
    first, second = collector.collect(Request(0.0)), collector.collect(Request(60.0))
    assert [(each.error, each.count) for each in first.hardware_errors] == [(HEALTH_GATE, 1)]
    assert second.hardware_errors == ()
    assert "hbm-uncorrectable on device 3" in first.problems[0]
    assert first.problems == second.problems
    # The agent was restarted: the failure is known, and is no second one.
    assert node.collector().collect(Request(120.0)).hardware_errors == ()


@pytest.mark.parametrize(
    ("tool", "text", "status", "said"),
    [
        ("neuron-ls", "FATA[0000] Failed to discover neuron devices", 1, "open   memory: neuron-ls failed: FATA[0000]"),
        ("neuron-ls", "no JSON", 0, "open   memory: neuron-ls is not understood"),
        ("nccom-test", "", 124, "failed collective: an all-reduce over the node's cores failed: it took too long"),
    ],
)
def test_a_tool_that_fails_is_said_in_its_own_words(
    node: GateNode, tool: str, text: str, status: int, said: str
) -> None:
    node.output(tool, text, status)

    assert said in node.judged()[1]


def test_efa_is_looked_for_where_the_fleet_uses_it(tmp_path: Path) -> None:
    NeuronSysfs(tmp_path / "sys", devices=16)
    node = GateNode(tmp_path, instance_type="trn1.32xlarge", gate={"efa_interfaces": 8})
    node.output("fi_info", "provider: efa\n    fabric: efa\nprovider: efa;ofi_rxd\n", 0)

    code, said = node.judged()

    assert code == 1
    assert "failed efa: 0 of 8 EFA devices" in said
    assert "passed efa-provider: libfabric offers EFA on 2 domains" in said


def test_the_number_of_ranks_is_that_of_logical_cores(tmp_path: Path) -> None:
    # trn2.48xlarge: 16 devices of 8 cores, 2 to a logical core unless the fleet says otherwise.
    assert GateNode(tmp_path / "a", instance_type="trn2.48xlarge").judged("--ranks") == (0, "64\n")
    assert GateNode(tmp_path / "b", instance_type="trn2.48xlarge", lnc=1).judged("--ranks") == (0, "128\n")


def test_without_an_instance_type_there_is_no_verdict(tmp_path: Path) -> None:
    node = GateNode(tmp_path, instance_type="trn9.huge")

    code, said = node.judged()

    assert code == 2
    assert said.startswith("the instance type is not known: trn9.huge")
    assert not (node.run_directory / "gate").exists()


def test_a_verdict_of_another_boot_is_none_and_a_damaged_one_is_a_problem(node: GateNode) -> None:
    node.judged()
    stale = GateCollector(node.run_directory, "another", BootMemory(node.folder / "spool/gate.json", "another"))
    assert stale.collect(Request(0.0)).event == {}

    (node.run_directory / verdict.FILE).write_text("{")

    assert node.collector().collect(Request(0.0)).problems[0].startswith("the health gate's verdict cannot be read: ")
    with pytest.raises(msgspec.DecodeError):
        verdict.read(node.run_directory)


def run(script: str, *arguments: str, path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{path}:/usr/bin:/bin", **variables}
    command = ["sh", str(PACKAGING / script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def put(folder: Path, name: str, body: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


HELD = "ExecStartPre=/bin/sh /opt/neuron-fleet/wait-for-gate.sh"


def ecs(programs: Path, *, unit: str, is_active: bool) -> None:
    """systemctl on a node whose ECS agent has this in its unit, and runs or does not."""
    put(programs, "systemctl", f'case $1 in cat) echo "{unit}" ;; is-active) exit {0 if is_active else 3} ;; esac')


@pytest.mark.parametrize(("unit", "is_active"), [(HELD, True), ("ExecStart=/usr/libexec/amazon-ecs-init start", False)])
def test_no_collective_takes_the_cores_of_a_node_that_may_be_given_a_job(
    tmp_path: Path, unit: str, is_active: bool
) -> None:
    programs, rundir = tmp_path / "bin", tmp_path / "run"
    ecs(programs, unit=unit, is_active=is_active)
    put(programs, "udevadm", "exit 0")
    put(programs, "nccom-test", "exit 0")
    put(programs, "neuron-ls", "exit 0")
    put(programs, "fleet-agent", "echo 64")

    ended = run(
        "gate.sh", "--agent", f"{programs}/fleet-agent", "--config", "c.json", "--run", str(rundir), path=programs
    )

    assert ended.returncode == 0
    assert sorted(path.name for path in (rundir / "gate.outputs").iterdir()) == ["neuron-ls.out", "neuron-ls.status"]


def test_the_script_runs_the_tools_that_are_there_and_hands_their_output_to_the_gate_once(tmp_path: Path) -> None:
    programs, rundir = tmp_path / "bin", tmp_path / "run"
    ecs(programs, unit=HELD, is_active=False)
    put(programs, "udevadm", "exit 0")
    put(programs, "neuron-ls", f'echo "$*"; echo neuron-ls >>{tmp_path}/ran')
    put(programs, "nccom-test", f"echo ranks $2 $3; echo nccom-test >>{tmp_path}/ran; exit 3")
    put(programs, "fleet-agent", f'case "$*" in *--ranks) echo 64 ;; *) echo "$*"; echo passed >{rundir}/gate ;; esac')
    command = ["--agent", str(programs / "fleet-agent"), "--config", "c.json", "--run", str(rundir)]

    first = run("gate.sh", *command, path=programs)
    second = run("gate.sh", *command, path=programs)

    outputs = rundir / "gate.outputs"
    assert (first.returncode, first.stdout) == (0, f"gate --config c.json --outputs {outputs}\n")
    assert (second.returncode, second.stdout) == (0, "")
    assert (tmp_path / "ran").read_text().split() == ["neuron-ls", "nccom-test"]
    assert {path.name: path.read_text() for path in outputs.iterdir()} == {
        "neuron-ls.out": "--json-output\n",
        "neuron-ls.status": "0\n",
        "nccom-test.out": "ranks 64 allr\n",
        "nccom-test.status": "3\n",
    }


@pytest.mark.parametrize(("word", "status"), [("passed", 0), ("failed", 1)])
def test_the_boot_goes_on_when_the_gate_has_passed_and_stops_where_it_failed(
    tmp_path: Path, word: str, status: int
) -> None:
    (tmp_path / "gate").write_text(f"{word}\n")

    assert run("wait-for-gate.sh", path=tmp_path, NEURON_FLEET_RUN=str(tmp_path)).returncode == status


def test_a_node_without_a_verdict_joins_when_patience_is_over(tmp_path: Path) -> None:
    ended = run("wait-for-gate.sh", path=tmp_path, NEURON_FLEET_RUN=str(tmp_path), NEURON_FLEET_PATIENCE="0")

    assert ended.returncode == 0
    assert "joins without one" in ended.stdout


@pytest.mark.parametrize(("at_work", "status"), [("60", 1), ("0", 0)])
def test_a_gate_that_is_at_work_when_patience_is_over_is_waited_for_a_while(
    tmp_path: Path, at_work: str, status: int
) -> None:
    # The verdict comes while it waits: two seconds later.
    (tmp_path / "gate.outputs").mkdir()
    put(tmp_path / "bin", "sleep", f"echo failed >{tmp_path}/gate")
    variables = {"NEURON_FLEET_RUN": str(tmp_path), "NEURON_FLEET_PATIENCE": "0", "NEURON_FLEET_AT_WORK": at_work}

    assert run("wait-for-gate.sh", path=tmp_path / "bin", **variables).returncode == status
