"""Every command that takes an environment takes a name or a path, and answers an unknown one in the same words."""

from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.named import NAME_HELP
from environments import loader
from tests.support.command_tree import every

UNKNOWN: Final = "environments: there is no environment 'prid'; did you mean prod? known: dev, local, prod, staging\n"
# What each of the other arguments is given; the environment is judged before all of them.
OTHERS: Final = {"fleet": "trn1-pretrain", "offering_id": "cb-1", "request_id": "r-1", "job": "job-1", "key": "k"}


TREE: Final = {seen.words[1:]: seen.command for seen in every() if seen.words[0] == "fleet" and not seen.is_group}
ASKING: Final = {
    path: command
    for path, command in TREE.items()
    if any(each.param_type_name == "argument" and each.name == "environment" for each in command.params)
}


def line(path: tuple[str, ...], environment: str, tmp_path: Path) -> list[str]:
    words = [*path]
    for each in ASKING[path].params:
        if each.param_type_name == "argument" and each.name == "environment":
            words.append(environment)
        elif each.param_type_name == "argument" and each.required:
            words.append(OTHERS[str(each.name)])
        elif each.required:
            words += [each.opts[0], str(tmp_path)]
    # Without the options that say what is to be purged, warmed or stopped these are refused before.
    more: dict[tuple[str, ...], list[str]] = {
        ("cache", "purge"): ["--failed"], ("cache", "warm"): ["--fleet", "f", "--", "true"],
        ("cache", "promote"): ["--fleet", "f"], ("jobs", "stop"): ["--yes"],
    }  # fmt: skip
    return [*words, *more.get(path, [])]


def test_most_commands_are_about_an_environment() -> None:
    assert len(ASKING) > 25


@pytest.mark.parametrize("path", ASKING, ids=" ".join)
def test_an_unknown_name_is_one_line_with_the_nearest(path: tuple[str, ...], tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, line(path, "prid", tmp_path))
    assert (answer.exit_code, answer.stdout, answer.stderr) == (1, "", UNKNOWN)


@pytest.mark.parametrize("path", ASKING, ids=" ".join)
def test_a_path_that_is_not_there_is_one_line_with_the_nearest(path: tuple[str, ...], tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, line(path, "environments/prid.yaml", tmp_path))
    told = "environments/prid.yaml: there is no such file; did you mean environments/prod.yaml?\n"
    assert (answer.exit_code, answer.stdout, answer.stderr) == (1, "", told)


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_help_says_the_same_of_an_environment_everywhere(path: tuple[str, ...]) -> None:
    for each in TREE[path].params:
        if each.name in {"environment", "env", "against"}:
            assert str(getattr(each, "help", "")).startswith(NAME_HELP)


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "cost", "dev", "--against", "prid"),
        ("plan", "cost", "dev", "--prices", "prid"),
        ("plan", "compare", "--prices", "prid", "--option", "name=a,type=trn1.2xlarge,instances=1"),
    ],
    ids=" ".join,
)
def test_options_that_name_an_environment_answer_alike(words: tuple[str, ...]) -> None:
    answer = CliRunner().invoke(app, words)
    assert (answer.exit_code, answer.stderr) == (1, UNKNOWN)


def test_a_name_means_the_users_own_file_before_the_one_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "environments"
    own.mkdir()
    text = (loader.FOLDER / "dev.yaml").read_text(encoding="utf-8")
    (own / "dev.yaml").write_text(text.replace("111122225555", "999922225555"), encoding="utf-8")
    (own / "trial.yaml").write_text(text.replace("name: dev", "name: trial"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert loader.load("dev").account == "999922225555"
    assert loader.load("trial").name == loader.load("environments/trial.yaml").name == "trial"
    assert loader.load("prod").name == "prod"
    assert loader.available() == ("dev", "local", "prod", "staging", "trial")


def test_a_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "dev.yaml").mkdir()
    answer = CliRunner().invoke(app, ["plan", "cost", str(tmp_path / "dev.yaml")])
    assert answer.exit_code == 1
    assert (
        answer.stderr == f"{tmp_path}/dev.yaml: cannot be read: Is a directory; check the path, and who may read it\n"
    )
