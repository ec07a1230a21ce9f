"""Every command of `fleet` and `fleet-agent` keeps the habits that docs/cli.md promises."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import agents.main
from cli.main import ENTRIES, OF_THE_LAPTOP, Entry, LazyGroup, app
from tests.support.command_tree import Seen, every, shown

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
SENTENCE = re.compile(r"[A-Z0-9`$].*[.]", re.DOTALL)
EACH = pytest.mark.parametrize("seen", every(), ids=lambda seen: seen.name)
COMMANDS = pytest.mark.parametrize("seen", [each for each in every() if not each.is_group], ids=lambda seen: seen.name)
# Whatever else answers can be read by a program.
WITHOUT_JSON = {
    "fleet plan source-figures": "it writes a page in Markdown",
    "fleet prices accept": "it changes one price and says so in a line",
    "fleet alarms export": "it prints a file in YAML",
    "fleet local demo": "it shows what happens while it happens",
    "fleet local training": "it shows what happens while it happens",
    "fleet local up": "it prints shell variables, to be evaluated",
    "fleet local down": "it ends a process and says so in a line",
    "fleet dashboards preview": "it serves a page",
    "fleet dashboards png": "it writes pictures and prints their paths, one a line",
    "fleet-agent run": "it is the agent, and --stdout prints JSON anyway",
    "fleet-agent gate": "it leaves its verdict as JSON for the boot and for the agent",
}
# To list the commands takes none of these, and most commands take few.
HEAVY = ("boto3", "botocore", "pydantic", "aiohttp", "yaml", "msgspec", "duckdb", "environments", "local", "starlette")


@EACH
@pytest.mark.parametrize("width", [80, 100, 120])
def test_help_fits_the_terminal_and_cuts_nothing_off(seen: Seen, width: int) -> None:
    text = shown(seen.words, width)

    assert max(len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    assert "<bool>" not in text
    assert text.rstrip().endswith("╯")


@EACH
def test_a_command_and_all_that_it_takes_are_told_in_sentences(seen: Seen) -> None:
    assert SENTENCE.fullmatch(seen.summary), seen.summary
    untold = [parameter.opts for parameter in seen.parameters if not SENTENCE.fullmatch(parameter.help or "")]
    assert not untold


@COMMANDS
def test_an_answer_can_be_read_by_a_program(seen: Seen) -> None:
    assert seen.takes("--json") != (seen.name in WITHOUT_JSON)


def test_no_exception_outlives_its_command() -> None:
    assert WITHOUT_JSON.keys() <= {seen.name for seen in every()}


@EACH
def test_a_mistake_in_the_command_line_ends_with_2(seen: Seen) -> None:
    application = agents.main.app if seen.words[0] == "fleet-agent" else app
    answer = CliRunner().invoke(application, [*seen.words[1:], "--no-such-option"])

    assert answer.exit_code == 2
    assert "No such option" in answer.output


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_list_of_commands_says_what_their_own_help_says(entry: Entry) -> None:
    (seen,) = [each for each in every() if each.words == ("fleet", entry.name)]

    assert entry.summary == seen.summary


def test_the_page_lists_every_command_with_its_own_words() -> None:
    listed = dict(re.findall(r"^\| `(fleet[^`]*)` \| (.*) \|$", PAGE, re.MULTILINE))

    assert listed == {seen.name: seen.summary for seen in every() if not seen.is_group}


def test_the_page_gives_the_reason_of_every_command_without_json() -> None:
    for name, reason in WITHOUT_JSON.items():
        assert f"`{name}`: {reason}" in PAGE


@pytest.mark.parametrize(("program", "heavy"), [("cli", HEAVY), ("agents.main", ("boto3", "rich.table", "psutil"))])
def test_version_and_list_import_nothing_heavy(program: str, heavy: tuple[str, ...]) -> None:
    # In a process of its own: this one has imported everything.
    code = f"""
import contextlib, io, runpy, sys
for option in ("--version", "--help")[:{1 if program == "agents.main" else 2}]:
    sys.argv = ["fleet", option]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        runpy.run_module({program!r}, run_name="__main__")
print(*sorted(sys.modules.keys() & set({heavy!r})))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert run.stdout.split() == []


def test_a_misspelt_command_is_told_the_nearest_one() -> None:
    answer = CliRunner().invoke(app, ["validat", "prod"])

    assert answer.exit_code == 2
    assert "Did you mean 'validate'?" in answer.output


def needs_starlette() -> None:
    """Look at a page."""
    raise ModuleNotFoundError("No module named 'starlette'", name="starlette.routing")


def is_broken() -> None:
    """Look at nothing."""
    raise ModuleNotFoundError("No module named 'fleet.nothing'", name="fleet.nothing")


class _Some(LazyGroup):
    entries = (
        Entry("page", f"{__name__}:needs_starlette", "Look at a page."),
        Entry("broken", f"{__name__}:is_broken", "Look at nothing."),
    )


def test_a_package_that_was_left_out_is_named_with_what_installs_it(capsys: pytest.CaptureFixture[str]) -> None:
    answer = _Some(name="some").main(["page"], standalone_mode=False)

    assert answer == 1
    assert "this needs starlette, which is not installed: run `pip install" in capsys.readouterr().err


def test_a_module_of_ours_that_is_missing_is_a_fault_and_shown_as_one() -> None:
    with pytest.raises(ModuleNotFoundError):
        _Some(name="some").main(["broken"], standalone_mode=False)


def test_what_may_be_left_out_is_what_the_laptop_adds() -> None:
    modules = {"cfn_lint": "cfnlint", "markdown_it_py": "markdown_it"}
    pinned = re.findall(r"^([\w-]+)==", (ROOT / "requirements-local.txt").read_text(encoding="utf-8"), re.MULTILINE)

    assert {modules.get(name.replace("-", "_"), name) for name in pinned} == OF_THE_LAPTOP
