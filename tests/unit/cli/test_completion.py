"""Shells complete commands, options and environments, without the commands being imported to list them."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from environments import loader
from tests.support.command_tree import every

ROOT = Path(__file__).parents[3]


def offered(shell: str, typed: str) -> list[str]:
    """What the shell is told after ``typed``, as it would ask."""
    words = typed.split(" ")
    asked = {
        "_FLEET_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": typed,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    answer = CliRunner().invoke(app, [], prog_name="fleet", env=asked)
    assert answer.exit_code == 0, answer.output
    return answer.stdout.splitlines()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("fleet pr", ["prices"]),
        ("fleet jobs s", ["submit", "show", "stop"]),
        ("fleet ledger pro", ["prod"]),
        ("fleet jobs list stag", ["staging"]),
        ("fleet ledger prod --js", ["--json"]),
        ("fleet ledger prod --by o", ["owner"]),
    ],
)
def test_bash_is_offered_commands_options_and_environments(typed: str, expected: list[str]) -> None:
    assert offered("bash", typed) == expected


def test_zsh_is_offered_them_with_their_help() -> None:
    (line,) = offered("zsh", "fleet pric")

    assert line.startswith("_arguments ")
    assert '"prices":"Prices' in line


def test_fish_is_offered_them_with_their_help() -> None:
    assert offered("fish", "fleet jobs st") == ["stop\tEnd a job, on all of its nodes."]
    assert offered("fish", "fleet ledger pro") == ["prod"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script_that_asks_this_command(shell: str) -> None:
    answer = CliRunner().invoke(app, [], prog_name="fleet", env={"_FLEET_COMPLETE": f"source_{shell}"})

    assert answer.exit_code == 0
    assert f"_FLEET_COMPLETE=complete_{shell}" in answer.stdout


def test_every_command_about_an_environment_completes_its_name() -> None:
    asked = [seen for seen in every() if any(parameter.name == "environment" for parameter in seen.parameters)]
    arguments = [seen for seen in asked if seen.command.params[0].param_type_name == "argument"]

    assert len(arguments) > 20
    for seen in arguments:
        assert offered("bash", f"{seen.name} ") == list(loader.available()), seen.name


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    program = tmp_path / "fleet"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    script = f"""
        PATH={tmp_path}:$PATH
        source <(_FLEET_COMPLETE=source_bash fleet)
        complete -p fleet
        COMP_WORDS=(fleet roll) COMP_CWORD=1
        $(complete -p fleet | sed 's/.*-F \\([^ ]*\\).*/\\1/') fleet
        echo "${{COMPREPLY[@]}}"
    """
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)

    assert run.stdout.splitlines()[-1] == "rollout"
