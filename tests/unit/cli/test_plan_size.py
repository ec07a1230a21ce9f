"""`fleet plan size` answers from a config.json or from numbers, as JSON or as tables, and refuses in one line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from tests.support import model_configs as models

SHAPE = ("--layers", "80", "--hidden", "8192", "--heads", "64", "--kv-heads", "8")


def size(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "250"}).invoke(app, ["plan", "size", *arguments])


def sized(*arguments: str) -> Any:
    answer = size(*arguments, "--json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


@pytest.fixture
def llama(tmp_path: Path) -> str:
    folder = tmp_path / "llama-3-70b"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(models.LLAMA_3_70B), encoding="utf-8")
    return str(folder / "config.json")


def test_json_has_every_byte_with_its_formula_and_every_price_with_its_date(llama: str) -> None:
    content = sized("--config", llama, "--instance", "trn1.32xlarge", "--tensor", "32", "--batch", "4")
    trn1 = content["candidates"][0]

    assert content["model"]["name"] == "llama-3-70b"
    assert content["workload"]["kind"] == "inference"
    assert (trn1["instances"], trn1["cores_per_replica"], trn1["replicas_per_instance"]) == (1, 32, 1)
    # 2 x 80 layers x 1 head x 128 x 16,384 tokens x 2 B.
    parts = trn1["bytes_per_core"]["parts"]
    assert parts[1]["bytes"] == 671_088_640
    assert parts[1]["formula"] == "2 x 80 layers x 1 heads x 128 x 16384 tokens x 2 B"
    assert sum(part["bytes"] for part in parts) == trn1["bytes_per_core"]["used"]
    assert (trn1["usd_per_hour"], trn1["price"]["kind"], trn1["price"]["as_of"]) == (21.5, "on-demand", "2026-10-03")


def test_the_table_names_the_kind_and_the_date_of_each_price(llama: str) -> None:
    answer = size("--config", llama)

    assert "llama-3-70b: 70.55 B parameters, inference in bf16, 4096 tokens; us-east-2" in answer.stdout
    assert re.search(r"21\.50 +│ on-demand, 2026-10-03 \(AWS API\)", answer.stdout)
    assert re.search(r"35\.76 +│ capacity-block, 2026-10-09 \(Capacity Blocks price page\)", answer.stdout)
    assert "inf2.xlarge: " in answer.stdout


def test_a_narrow_terminal_shows_kind_and_date_as_well(llama: str) -> None:
    answer = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["plan", "size", "--config", llama])

    assert "1 x trn2.48xlarge" in answer.stdout
    assert "capacity-block" in answer.stdout
    assert "2026-10-09" in answer.stdout
    assert "…" not in answer.stdout


def test_a_type_without_a_price_shows_none(llama: str) -> None:
    answer = size("--config", llama, "--market", "on-demand", "--instance", "trn2.48xlarge")

    assert re.search(r"- +│ no price is known", answer.stdout)


def test_numbers_take_the_place_of_a_file() -> None:
    content = sized("--params", "70B", *SHAPE, "--instance", "inf2.48xlarge", "--tensor", "24", "--head-dim", "128")

    assert content["model"]["parameters"] == 70_000_000_000
    assert content["candidates"][0]["heads"] == {"query": 72, "kv": 24, "is_padded": True, "is_repeated": True}


def test_training_is_asked_for_with_its_own_options(llama: str) -> None:
    on_trn1 = ("--config", llama, "--training", "--context", "8192", "--instance", "trn1.32xlarge")
    published = sized(*on_trn1, "--tensor", "32", "--pipeline", "8", "--nodes", "32")["candidates"][0]

    assert published["degrees"] == {"tensor": 32, "pipeline": 8, "data": 4}
    assert published["usd_per_hour"] == 32 * 21.5
    plain = sized(*on_trn1, "--no-zero1", "--no-fp32-gradients", "--checkpointing", "full", "--optimizer", "sgd")
    assert plain["workload"]["zero1"] is False
    assert plain["workload"]["optimizer"] == "sgd"


def test_a_model_that_fits_nowhere_says_why_and_fails(llama: str) -> None:
    answer = size("--config", llama, "--instance", "inf2.xlarge")

    assert answer.exit_code == 1
    assert "inf2.xlarge: 57.55 GB missing on each core of 17.18 GB" in answer.stdout
    assert answer.stderr == "llama-3-70b fits none of the instance types tried in us-east-2\n"


def test_one_byte_weights_keep_a_two_byte_cache(llama: str) -> None:
    workload = sized("--config", llama, "--dtype", "int8")["workload"]

    assert (workload["dtype"], workload["kv_dtype"]) == ("int8", "bf16")


def test_the_context_of_a_short_model_is_its_own(tmp_path: Path) -> None:
    file = tmp_path / "bert-large.json"
    file.write_text(json.dumps(models.BERT_LARGE), encoding="utf-8")

    assert sized("--config", str(file))["workload"]["context"] == 512


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no model: give --config FILE, or --params with --layers, --hidden and --heads"),
        (("--params", "70B"), "--params needs --layers, --hidden and --heads: memory and degrees depend on them"),
        (("--params", "many", *SHAPE), "--params many: a count such as 70B, 6.7B or 7e9 is needed"),
        (("--params", "inf", *SHAPE), "--params inf: a count such as 70B, 6.7B or 7e9 is needed"),
        (("--params", "-1", *SHAPE), "-1 parameters: parameters is -1; it must be at least 1"),
        (("--params", "1e300", *SHAPE), "1e300 parameters: parameters is more than any model has"),
        (("--params", "7B", *SHAPE, "--batch", "9" * 30), f"batch is {'9' * 30}; it must be at least 1, and at most"),
        (
            ("--params", "7B", "--active-params", "8B", *SHAPE),
            "7B parameters: 8000000000 active of 7000000000 parameters",
        ),
        (("--params", "7B", *SHAPE[:4], "--heads", "60"), "--hidden 8192 does not divide into --heads 60"),
        (("--params", "7B", *SHAPE, "--pipeline", "2"), "--pipeline and --data go with --tensor"),
        (("--params", "7B", *SHAPE, "--training", "--tensor", "8", "--data", "4", "--nodes", "2"), "--data and --node"),
        (("--params", "7B", *SHAPE, "--nodes", "2"), "nodes are of a training job; a served model has replicas"),
        (("--params", "7B", *SHAPE, "--instance", "inf2.49xlarge"), "inf2.49xlarge is not an instance type: did you"),
        (("--params", "7B", *SHAPE, "--instance", "trn2n.48xlarge"), "trn2n.48xlarge is not an instance type: "),
        (("--params", "7B", *SHAPE, "--headroom", "2"), "headroom is 2.0; it must be a share of the memory"),
        (("--config", "nowhere.json"), "nowhere.json: No such file or directory"),
        (("--config", "nowhere.json", "--params", "7B"), "--params and --config: the file already says it"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: tuple[str, ...], message: str) -> None:
    answer = size(*arguments)

    assert answer.exit_code == 1
    assert answer.stdout == ""
    assert answer.stderr.startswith(message)
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: "),
        ("[" * 100_000, "not JSON: "),
        ("[]", "not the config of a model"),
        ("{}", "model_type None is not"),
    ],
)
def test_a_file_that_is_no_config_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "c.json"
    file.write_text(text, encoding="utf-8")
    answer = size("--config", str(file))

    assert answer.exit_code == 1
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_bytes(b"\xff\xfe\x00")

    assert size("--config", str(file)).stderr.startswith(f"{file}: not JSON: ")
