"""Every example is a job that could be submitted as it is, with scripts that exist."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from cli.main import app
from environments import loader
from local.deployment import ENVIRONMENT

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "examples").glob("*/job.yaml"))


def dry_run(file: Path) -> dict[str, Any]:
    answer = CliRunner().invoke(app, ["jobs", "submit", str(file), "--dry-run", "--json"])
    assert answer.exit_code == 0, answer.output
    content: dict[str, Any] = json.loads(answer.stdout)
    return content


def test_there_is_one_of_each_kind() -> None:
    assert [file.parent.name for file in FILES] == ["embeddings", "llama_lora", "pretraining"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_an_example_passes_every_rule_of_the_environment_that_runs_on_a_laptop(file: Path) -> None:
    content = dry_run(file)
    assert content["findings"] == []
    assert content["plan"]["job"]["fleet"] in {fleet.name for fleet in loader.load(ENVIRONMENT).training_fleets}
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["environment"] == ENVIRONMENT
    assert content["submitted"] is None
    sizes = content["hbm_bytes_per_core"]
    assert sizes["used"] + sizes["headroom"] <= sizes["hbm"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_every_place_that_an_example_reads_or_writes_is_granted_by_its_fleet(file: Path) -> None:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    fleet = next(each for each in loader.load(ENVIRONMENT).training_fleets if each.name == content["fleet"])
    written: list[str] = [content["checkpoint"]["location"]]
    read: list[str] = []
    for option, place in re.findall(r"(--\w+)[= ](s3://\S+)", " ".join(content["command"])):
        (written if option == "--out" else read).append(place)
    assert read
    assert [place for place in read if not below(place, (*fleet.reads, *(fleet.writes or ())))] == []
    assert [place for place in written if not below(place, fleet.writes or ())] == []


def below(place: str, granted: tuple[str, ...]) -> bool:
    return any(place.startswith(f"{each}/") for each in granted)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_every_module_that_an_example_runs_is_there(file: Path) -> None:
    command = yaml.safe_load(file.read_text(encoding="utf-8"))["command"]
    modules = [word for word in command if word.startswith("examples.")]
    assert modules[0] == "examples.launch"
    assert len(modules) > 1
    for module in modules:
        script = ROOT / f"{module.replace('.', '/')}.py"
        tree = ast.parse(script.read_text(encoding="utf-8"))
        assert any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)


def test_the_pre_training_job_is_split_three_ways() -> None:
    plan = dry_run(ROOT / "examples/pretraining/job.yaml")["plan"]
    # 4 nodes x 32 cores
    assert plan["world_size"] == 128
    assert (plan["job"]["parallel"]["tensor"], plan["job"]["parallel"]["pipeline"], plan["data_parallel"]) == (8, 4, 4)


def test_the_fine_tune_leaves_a_tensor_parallel_group_of_cores_to_its_validation() -> None:
    request = dry_run(ROOT / "examples/llama_lora/job.yaml")["request"]
    (override,) = request["nodeOverrides"]["nodePropertyOverrides"]
    told = {each["name"]: each["value"] for each in override["containerOverrides"]["environment"]}
    # 32 cores, of which 24 train in three groups of eight.
    assert told["NEURON_FLEET_SPARE_CORES"] == "24-31"
    assert (told["NEURON_FLEET_RANKS_PER_NODE"], told["NEURON_FLEET_TENSOR_PARALLEL"]) == ("24", "8")
