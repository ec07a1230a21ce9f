"""One process for each core, cores for what runs beside, and the exit code that tells AWS Batch to start again."""

import os
from pathlib import Path

import pytest

from examples import launch

NODE = {
    "AWS_BATCH_JOB_NUM_NODES": "4",
    "AWS_BATCH_JOB_NODE_INDEX": "2",
    "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "10.0.0.9",
    "NEURON_FLEET_RANKS_PER_NODE": "32",
}


def test_a_node_joins_the_others_at_the_main_nodes_address() -> None:
    assert launch.torchrun(NODE, "examples.train", ["--data=s3://b"]) == [
        "torchrun", "--nnodes=4", "--node_rank=2", "--nproc_per_node=32", "--master_addr=10.0.0.9",
        "--master_port=41000", "-m", "examples.train", "--data=s3://b",
    ]  # fmt: skip


def test_the_main_node_which_is_told_no_address_gives_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "own_address", lambda: "10.0.0.1")
    main = {"AWS_BATCH_JOB_NODE_INDEX": "0", "NEURON_FLEET_RANKS_PER_NODE": "32"}
    assert "--master_addr=10.0.0.1" in launch.torchrun(main, "m", [])


def test_cores_are_split_between_both() -> None:
    shared = {"NEURON_FLEET_RANKS_PER_NODE": "24", "NEURON_FLEET_SPARE_CORES": "24-31"}
    assert launch.visible_cores(shared) == {"NEURON_RT_VISIBLE_CORES": "0-23"}
    assert launch.visible_cores(NODE) == {}
    # 24 to 31 are eight; a single core is one.
    assert "--nproc_per_node=8" in launch.on_spare_cores("24-31", "m", [])
    assert "--nproc_per_node=1" in launch.on_spare_cores("31", "m", [])


@pytest.fixture
def torchrun(tmp_path: Path) -> Path:
    """A torchrun that does what its module's name says, and writes down which cores it was given."""
    program = tmp_path / "torchrun"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$NEURON_RT_VISIBLE_CORES" >> {tmp_path}/cores\n'
        'case "$*" in\n'
        '  *again*) touch "$NEURON_FLEET_RESUME_FILE"; exit 1;;\n'
        '  *drained*) touch "$NEURON_FLEET_RESUME_FILE"; exit 0;;\n'
        "  *fails*) exit 3;;\n"
        "  *killed*) kill -9 $$;;\n"
        "esac\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "code"), [("done", 0), ("fails", 3), ("again", 75), ("drained", 75), ("killed", 137)]
)
def test_a_job_that_wants_to_be_started_again_ends_with_the_code_for_that(
    torchrun: Path, monkeypatch: pytest.MonkeyPatch, module: str, code: int
) -> None:
    monkeypatch.setenv("PATH", f"{torchrun}:{os.environ['PATH']}")
    monkeypatch.setattr("examples.launch.signal.signal", lambda *_: None)
    assert launch.run({**os.environ, **NODE}, module, [], None) == code


def test_what_runs_beside_has_the_other_cores_of_the_main_node_only(
    torchrun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{torchrun}:{os.environ['PATH']}")
    monkeypatch.setattr("examples.launch.signal.signal", lambda *_: None)
    shared = {**os.environ, **NODE, "NEURON_FLEET_RANKS_PER_NODE": "24", "NEURON_FLEET_SPARE_CORES": "24-31"}
    assert launch.run({**shared, "AWS_BATCH_JOB_NODE_INDEX": "0"}, "done", [], "validate") == 0
    assert sorted((torchrun / "cores").read_text(encoding="utf-8").split()) == ["0-23", "24-31"]
    assert launch.run(shared, "done", [], "validate") == 0
    assert sorted((torchrun / "cores").read_text(encoding="utf-8").split()) == ["0-23", "0-23", "24-31"]
