"""One process for each core, cores for what runs beside, and the exit code that tells AWS Batch to start again."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from examples import launch
from tests.support import standin_compiler
from tests.support.compiled_graphs import graph, write
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier

GRAPH = graph(1)

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


@pytest.fixture
def shared(tmp_path: Path) -> dict[str, str]:
    """A shared tier with one graph in it, as a job definition tells of it."""
    folder = tmp_path / "shared"
    folder.mkdir()
    write(GRAPH, tmp_path / "compiled")
    tier = SharedTier(folder)
    promotion.publish(
        tier, promotion.stage(tier, GRAPH, str(tmp_path / "compiled"), token=1, seconds=60.0, holder="node-1")
    )
    return {
        "NEURON_FLEET_CACHE_SHARED": str(folder),
        "NEURON_FLEET_CACHE_LOCAL": str(tmp_path / "local"),
        "NEURON_FLEET_CACHE_ON_MISS": "alone",
    }


def test_what_the_fleet_has_compiled_is_on_the_nodes_disk_before_a_rank_begins(
    torchrun: Path, shared: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{torchrun}:{os.environ['PATH']}")
    monkeypatch.setattr("examples.launch.signal.signal", lambda *_: None)

    assert launch.run({**os.environ, **NODE, **shared}, "done", [], None) == 0

    assert LocalTier(Path(shared["NEURON_FLEET_CACHE_LOCAL"])).has(GRAPH)


def test_a_compiler_is_found_behind_one_that_asks_the_fleet_first(
    torchrun: Path, shared: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = torchrun / "torchrun"
    program.write_text(f"#!/bin/sh\ncommand -v neuronx-cc > {torchrun}/found; exec neuronx-cc list\n", encoding="utf-8")
    path = f"{standin_compiler.install(torchrun / 'image')}:{torchrun}"
    program.replace(torchrun / "image/torchrun")
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr("examples.launch.signal.signal", lambda *_: None)
    told = {**os.environ, **NODE, **shared}

    # The real one ends with 4 when it is asked for something else than a graph.
    assert launch.run(told, "done", [], None) == 4
    found = Path((torchrun / "found").read_text(encoding="utf-8").strip())
    assert (found.name, found.parent == torchrun / "image", found.exists()) == ("neuronx-cc", False, False)

    # Where there is no shared tier there is nothing to ask.
    del told["NEURON_FLEET_CACHE_SHARED"]
    assert launch.run(told, "done", [], None) == 4
    assert (torchrun / "found").read_text(encoding="utf-8").strip() == str(torchrun / "image/neuronx-cc")


def test_a_shared_tier_that_is_not_there_costs_a_compilation_and_not_the_job(
    torchrun: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{torchrun}:{os.environ['PATH']}")
    monkeypatch.setattr("examples.launch.signal.signal", lambda *_: None)
    absent = {"NEURON_FLEET_CACHE_SHARED": str(torchrun / "absent"), "NEURON_FLEET_CACHE_ON_MISS": "alone"}

    assert launch.run({**os.environ, **NODE, **absent}, "done", [], None) == 0

    assert "the compile cache is not warm (exit code 1)" in capfd.readouterr().err


def test_a_node_that_is_taken_away_while_its_cache_is_filled_is_started_again(
    torchrun: Path, shared: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{torchrun}:{os.environ['PATH']}")
    handlers: list[Any] = []
    monkeypatch.setattr("examples.launch.signal.signal", lambda _, handler: handlers.append(handler))
    monkeypatch.setattr(launch, "warm_up", lambda *_: handlers[0](signal.SIGTERM, None))

    assert launch.run({**os.environ, **NODE, **shared}, "done", [], None) == launch.RESUME
    assert not (torchrun / "cores").exists()
