"""The installer: nothing is unpacked that was not checked, and every failure is one line."""

from pathlib import Path

import pytest

from tests.support.agent_installation import Machine, packed


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_archive_with_another_checksum_is_not_unpacked(machine: Machine) -> None:
    machine.publish(packed("one"), checksum="0" * 64)

    run = machine.install()

    assert run.returncode == 1
    assert run.stderr == (
        f"neuron-fleet install: s3://bucket/agent.zip does not have the checksum {'0' * 64};"
        " nothing of it was unpacked\n"
    )
    assert not (machine.folder / "current").exists()
    assert [path.name for path in machine.folder.glob("incoming.*")] == []


@pytest.mark.parametrize(
    ("parameter", "line"),
    [
        ("s3://bucket/agent.zip", "is not an S3 address and a SHA-256 checksum: s3://bucket/agent.zip"),
        ("None", "is not an S3 address and a SHA-256 checksum: None"),
    ],
)
def test_a_parameter_that_says_something_else_will_not_get_better(machine: Machine, parameter: str, line: str) -> None:
    machine.publish(packed("one"))
    (machine.s3 / "parameter_code").write_text(parameter + "\n")

    run = machine.install()

    assert (run.returncode, run.stderr) == (3, f"neuron-fleet install: the parameter /code {line}\n")


@pytest.mark.parametrize(
    ("lost", "line"),
    [
        ("parameter_code", "the parameter /code cannot be read"),
        ("parameter_config", "the parameter /config cannot be read"),
        ("agent.zip", "s3://bucket/agent.zip cannot be fetched"),
    ],
)
def test_what_aws_does_not_hand_out_may_come_the_next_time(machine: Machine, lost: str, line: str) -> None:
    machine.publish(packed("one"))
    (machine.s3 / lost).unlink()

    run = machine.install()

    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == f"neuron-fleet install: {line}"
    assert not (machine.folder / "current").exists()
