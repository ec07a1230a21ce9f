"""The bootstrap, run for real by the installer in a folder that stands for a node's /."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.agent_installation import CONFIG, PACKAGING, Machine, code, packed, unpacked

UNIT = "neuron-fleet-agent.service"
INSTALLED = ["daemon-reload", f"enable --quiet {UNIT}", f"restart {UNIT}"]


def version(name: str) -> str:
    return code(name).digest[:16]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def installed(machine: Machine) -> Machine:
    """A node with version one."""
    machine.publish(packed("one"))
    run = machine.install()
    assert (run.returncode, run.stderr) == (0, "")
    assert machine.calls() == INSTALLED
    return machine


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("script", ["install.sh", "bootstrap.sh", "gate.sh", "wait-for-gate.sh"])
def test_both_shells_of_the_images_understand_the_scripts(shell: str, script: str) -> None:
    assert subprocess.run([shell, "-n", str(PACKAGING / script)], check=False).returncode == 0


@pytest.mark.parametrize("arguments", [[], ["--root", "/x"], ["--config"], ["--unknown", "x"]])
def test_the_bootstrap_refuses_what_it_does_not_understand_before_it_changes_anything(
    machine: Machine, arguments: list[str]
) -> None:
    run = machine.run(["sh", str(PACKAGING / "bootstrap.sh"), *arguments])

    assert run.returncode == 2
    assert "--config FILE [--root DIR]" in run.stderr


def test_a_node_gets_the_agent_its_command_its_unit_and_its_configuration(installed: Machine) -> None:
    assert installed.current == version("one")
    assert installed.agent().startswith("one /")
    assert json.loads((installed.root / "etc/neuron-fleet/agent.json").read_text()) == CONFIG
    unit = installed.root / "etc/systemd/system" / UNIT
    assert unit.read_bytes() == (PACKAGING / UNIT).read_bytes()
    assert (installed.root / "etc/udev/rules.d/90-neuron-fleet.rules").exists()
    assert [path.name for path in installed.folder.glob("incoming.*")] == []


def test_pip_installs_what_the_lock_file_allows_without_an_index(machine: Machine) -> None:
    machine.publish(packed("one", with_pip=True))

    run = machine.install()

    assert (run.returncode, run.stderr) == (0, "")
    (information,) = (machine.folder / "current/venv").rglob("tiny-1.0.dist-info")
    assert (information / "INSTALLER").read_text().strip() == "pip"
    assert machine.agent().startswith("one /")


def test_an_installation_ends_with_the_health_gate_once_a_boot(installed: Machine) -> None:
    verdict = installed.root / "run/neuron-fleet/gate"
    assert verdict.read_text() == "passed\n"

    verdict.write_text("of this boot\n")
    installed.install()

    assert verdict.read_text() == "of this boot\n"


def test_an_agent_is_installed_whatever_the_health_gate_says(machine: Machine) -> None:
    machine.publish(packed("one", refused=True))

    run = machine.install()

    assert run.returncode == 0
    assert "the health gate did not pass" in run.stderr


def test_the_second_run_changes_nothing(installed: Machine) -> None:
    before = installed.tree()

    run = installed.install()

    assert run.stdout == f"neuron-fleet bootstrap: version {version('one')} runs; nothing to change\n"
    assert installed.tree() == before
    assert installed.calls() == [f"is-active --quiet {UNIT}"]


def test_an_agent_that_is_down_is_started_and_not_installed_again(installed: Machine) -> None:
    before = installed.tree()
    installed.systemctl_answers(is_active="exit 3")

    run = installed.install()

    assert run.returncode == 0
    assert f"restart {UNIT}" in installed.calls()
    venv = f"opt/neuron-fleet/versions/{version('one')}"
    after = installed.tree()
    assert [name for name in before if name.startswith(venv) and after[name] != before[name]] == []


def test_a_new_version_takes_the_place_of_the_old_one_which_stays_and_the_one_before_goes(installed: Machine) -> None:
    for name in ("two", "three"):
        installed.publish(packed(name))
        run = installed.install()
        assert run.stdout == f"neuron-fleet bootstrap: version {version(name)} runs\n"

    assert installed.agent().startswith("three /")
    kept = {path.name for path in (installed.folder / "versions").iterdir()}
    assert kept == {version("two"), version("three")}


def test_a_version_that_does_not_start_gives_way_to_the_one_before_with_its_configuration(
    installed: Machine, tmp_path: Path
) -> None:
    installed.systemctl_answers(restart=f'[ -e "{tmp_path}/failed" ] || {{ touch "{tmp_path}/failed"; exit 1; }}')
    installed.publish(packed("two"), {**CONFIG, "period_seconds": 10})

    run = installed.install()

    assert run.returncode == 3
    assert run.stderr == (
        f"neuron-fleet bootstrap: version {version('two')} does not start with this configuration;"
        f" {version('one')} runs again\n"
    )
    assert installed.current == version("one")
    assert json.loads((installed.root / "etc/neuron-fleet/agent.json").read_text()) == CONFIG
    assert installed.calls() == [f"enable --quiet {UNIT}", f"restart {UNIT}", "daemon-reload", f"restart {UNIT}"]
    # What was put back is known to work: the same again is nothing to change.
    installed.publish(packed("one"))
    assert installed.install().stdout.endswith("nothing to change\n")


def test_a_first_version_that_does_not_start_says_where_to_look(machine: Machine) -> None:
    machine.systemctl_answers(restart="exit 1")
    machine.publish(packed("one"))

    run = machine.install()

    assert run.returncode == 3
    assert run.stderr == (
        f"neuron-fleet bootstrap: version {version('one')} does not start, and there is none before it:"
        f" see journalctl -u {UNIT}\n"
    )


def test_an_installation_that_was_cut_short_before_the_restart_is_finished_by_the_next(installed: Machine) -> None:
    installed.publish(packed("two"))
    # systemctl dies with the installation, as when the node is rebooted in the middle.
    installed.systemctl_answers(restart="kill -9 $PPID")
    assert installed.install().returncode != 0
    assert installed.current == version("two")
    installed.calls()

    installed.systemctl_answers(restart="exit 1")
    run = installed.install()

    # It was not taken for done, and what it would come back to is what ran, not what was half installed.
    assert f"restart {UNIT}" in installed.calls()
    assert installed.current == version("one")
    assert run.returncode == 3


def test_a_configuration_that_the_new_agent_refuses_is_not_used_and_the_old_agent_is_left_alone(
    installed: Machine,
) -> None:
    installed.publish(packed("two"), {"flet": "pretrain"})

    run = installed.install()

    assert run.returncode == 3
    assert run.stderr.splitlines() == [
        "agent.json: Object missing required field `fleet`",
        "neuron-fleet bootstrap: the configuration is not used; what runs goes on as it is",
    ]
    assert installed.current == version("one")
    assert installed.calls() == []


def test_an_environment_that_broke_is_made_again(installed: Machine) -> None:
    (installed.folder / "current/venv/bin/python").unlink()

    run = installed.install()

    assert run.returncode == 0
    assert installed.agent().startswith("one /")


def test_a_version_that_was_cut_short_while_it_was_built_is_built_again(installed: Machine) -> None:
    cut = installed.folder / "versions" / version("one")
    left = cut / "left-behind"
    left.touch()
    # It can be imported, but nobody knows what it lacks.
    (cut / ".whole").unlink()

    assert installed.install().returncode == 0

    assert not left.exists()
    assert installed.agent().startswith("one /")


def test_what_would_be_come_back_to_is_kept_although_somebody_changed_the_configuration(installed: Machine) -> None:
    installed.publish(packed("two"))
    assert installed.install().returncode == 0
    # Which keeps the next installation from taking what runs for what was installed: version one is remembered on.
    (installed.root / "etc/neuron-fleet/agent.json").write_text(json.dumps({**CONFIG, "owner": "three"}))
    installed.publish(packed("three"))
    assert installed.install().returncode == 0
    installed.systemctl_answers(restart="exit 1")
    (installed.root / "etc/neuron-fleet/agent.json").write_text(json.dumps({**CONFIG, "owner": "four"}))
    installed.publish(packed("four"))

    installed.install()

    assert installed.current == version("one")
    assert installed.agent().startswith("one /")


def test_a_wheel_that_the_lock_file_does_not_allow_is_not_installed(installed: Machine) -> None:
    installed.publish(packed("two", with_pip=True, damaged=True))

    run = installed.install()

    assert run.returncode == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in run.stderr
    assert run.stderr.splitlines()[-1] == "neuron-fleet bootstrap: the agent's packages cannot be installed"
    assert installed.current == version("one")


def test_a_folder_that_is_no_archive_is_refused(machine: Machine, tmp_path: Path) -> None:
    folder = unpacked(packed("one"), tmp_path / "unpacked")
    (folder / "manifest.json").unlink()
    (tmp_path / "agent.json").write_text(json.dumps(CONFIG))

    run = machine.run(
        ["sh", str(folder / "agents/packaging/bootstrap.sh"), "--config", str(tmp_path / "agent.json"), "--root",
         str(machine.root)]
    )  # fmt: skip

    assert run.returncode == 3
    assert run.stderr == (
        f"neuron-fleet bootstrap: {folder} is not an unpacked archive of the agent: it has no manifest\n"
    )
