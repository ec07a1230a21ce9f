"""The command for scripts: what it is told, what it prints, and what it needs to run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.compiled_graphs import graph, write
from workload.compile_cache import settings
from workload.compile_cache.__main__ import main
from workload.compile_cache.flight.single_flight import OnMiss
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError

ROOT = Path(__file__).parents[4]


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "shared").mkdir()
    return {"NEURON_FLEET_CACHE_SHARED": str(tmp_path / "shared"), "NEURON_FLEET_CACHE_LOCAL": str(tmp_path / "local")}


def promote(folder: Path) -> None:
    shared = SharedTier(folder / "shared")
    write(graph(1), folder / "compiled")
    staged = promotion.stage(shared, graph(1), str(folder / "compiled"), token=1, seconds=60.0, holder="x")
    promotion.publish(shared, staged)


def test_a_warm_up_prints_one_object(
    variables: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    promote(tmp_path)

    assert main(["warm"], variables) == 0

    report = json.loads(capsys.readouterr().out)
    assert (report["fetched"], report["seconds_saved"], report["bytes"]) == (1, 60.0, 64_640)


def test_a_warm_up_with_a_graph_that_could_not_be_fetched_is_not_a_success(
    variables: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    promote(tmp_path)
    (tmp_path / "shared" / str(graph(1)) / "model.neff").unlink()

    assert main(["warm"], variables) == 1
    assert "MODULE_1" in json.loads(capsys.readouterr().out)["problems"][0]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["fetch"], 2),
        (["purge", "../x"], 1),
        (["promote"], 1),
        (["evict"], 1),
        (["archive", "m", "r1", "2.20", "128"], 1),
    ],
)
def test_a_mistake_is_one_line(
    variables: dict[str, str], capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert main(arguments, variables) == code

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["m", "r1", "2.20"], "not MODEL MODEL_VERSION SDK_VERSION LENGTHS"),
        (["m", "r1", "2.20", "long"], "not sequence lengths"),
        (["m", "", "2.20", "128"], "needs a model version"),
    ],
)
def test_an_artifact_that_is_named_wrongly_is_one_line(
    variables: dict[str, str], capsys: pytest.CaptureFixture[str], names: list[str], message: str
) -> None:
    told = variables | {"NEURON_FLEET_CACHE_BUCKET": "artifacts", "AWS_REGION": "us-east-2"}

    assert main(["restore", *names], told) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"NEURON_FLEET_CACHE_SHARED": ""}, "NEURON_FLEET_CACHE_SHARED is not set"),
        ({"NEURON_FLEET_CACHE_TABLE": "leases"}, "AWS_REGION is not set"),
        ({"NEURON_FLEET_CACHE_ON_MISS": "maybe"}, "'maybe' .*; one of share, wait, alone, refuse"),
        ({"NEURON_FLEET_CACHE_ON_MISS": "share"}, "to share needs the lease table"),
        ({"NEURON_FLEET_CACHE_ON_MISS": "wait"}, "to wait needs the lease table"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line(
    variables: dict[str, str], change: dict[str, str], message: str
) -> None:
    with pytest.raises(CacheError, match=message):
        settings.read(variables | change)


def test_a_process_without_a_table_compiles_for_itself(variables: dict[str, str]) -> None:
    assert settings.read(variables).on_miss is OnMiss.ALONE
    shares = variables | {"NEURON_FLEET_CACHE_TABLE": "leases", "AWS_REGION": "us-east-2"}
    assert settings.read(shares).on_miss is OnMiss.SHARE


def test_a_container_needs_nothing_but_python_until_it_speaks_to_aws(variables: dict[str, str]) -> None:
    # -S and -I: no installed package can be found.
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from workload.compile_cache.__main__ import main\n"
        "import workload.compile_cache.tiers.cold, os\n"
        "sys.exit(main(['status'], os.environ))"
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["shared"] == {}
