"""`fleet replay` of generated scenarios: a closed set stays closed, and all of it can be had as files."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from cli.replay import generated
from local.replay.generator.corpus import Half, generate, half_of, names
from local.replay.scenario import Scenario

NAMES = ("endpoint-gone-01", "endpoint-gone-02")


def replay(*words: str) -> Result:
    return CliRunner().invoke(app, ["replay", *words])


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    def few(_half: Half, seed: int) -> Iterator[Scenario]:
        return (generate(name, seed).model_copy(update={"minutes": 8, "incidents": ()}) for name in NAMES)

    monkeypatch.setattr(generated, "generated", few)


@pytest.mark.usefixtures("two")
def test_the_test_set_shows_its_figures_and_no_scenario() -> None:
    text, data = replay("--generated", "test").stdout, json.loads(replay("--generated", "test", "--json").stdout)

    assert "endpoint-gone" not in text + json.dumps(data)
    assert "2 scenarios" in text
    assert (data["scenario_count"], "scenarios" in data, "missed" in data) == (2, False, False)


@pytest.mark.usefixtures("two")
def test_who_insists_is_told_which_scenario_it_was() -> None:
    assert f"{NAMES[0]}: " in replay("--generated", "test", "--look-inside").stdout
    assert f"{NAMES[0]}: " in replay("--generated", "development").stdout


def test_generated_scenarios_and_files_are_not_mixed(tmp_path: Path) -> None:
    answer = replay("--generated", "test", str(tmp_path))

    assert (answer.exit_code, answer.stderr.count("\n")) == (1, 1)
    assert "pass either it or files" in " ".join(answer.stderr.split())


def test_all_of_it_can_be_had_as_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = [name for name in names() if name.endswith("-01")]
    monkeypatch.setattr(
        generated, "generated", lambda half, seed: (generate(name, seed) for name in some if half_of(name) is half)
    )
    answer = replay("--export", str(tmp_path / "corpus"))
    files = {file.stem: file.parent.name for file in tmp_path.rglob("*.yaml")}

    assert (answer.exit_code, answer.stdout.split()[0]) == (0, str(len(some)))
    assert files == {name: half_of(name).value for name in some}


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = replay("--export", str(tmp_path / "file"))

    assert (answer.exit_code, answer.stderr.count("\n")) == (1, 1)
    assert "Not a directory" in answer.stderr or "exists" in answer.stderr


@pytest.mark.usefixtures("two")
def test_a_sweep_is_a_table_and_a_file_of_the_same_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    answer = replay("--generated", "test", "--sweep", "JobHang.threshold=1,2", "--csv", str(file), "--json")

    rows = json.loads(answer.stdout)["rows"]
    assert [row["threshold"] for row in rows] == [1, 2]
    assert file.read_text().splitlines()[0].split(",") == list(rows[0])
    assert len(file.read_text().splitlines()) == len(rows) + 1


def test_rows_of_nothing_are_refused(tmp_path: Path) -> None:
    answer = replay("--csv", str(tmp_path / "rows.csv"))

    assert (answer.exit_code, answer.stderr) == (1, "--csv writes the rows of --sweep: pass that too\n")
