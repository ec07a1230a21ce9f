"""docs/tutorial.md as a person follows it: every command in order, and what it prints is what the document shows."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.console_document import commands, difference
from tests.support.needs import needs
from tests.support.shell_session import ShellSession, copied
from tests.support.templates import PROJECT_FOLDER

DOCUMENT: Final = PROJECT_FOLDER / "docs" / "tutorial.md"
# Of the document; here other tests may have taken it.
PORT: Final = "4566"
# What ends with 1 is what the document shows as a mistake.
FAILS: Final = re.compile(r": error: |has no ledger|wrote nothing yet")

# On standard error, and only where a machine is slow.
PROGRESS: Final = re.compile(r"^[^\n]*, \d+ s\n", re.MULTILINE)

pytestmark = needs("the CDK command line")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[ShellSession]:
    with ShellSession(copied(tmp_path / "neuron-fleet")) as session:
        yield session
        session.run("fleet local down")


def test_every_command_of_the_tutorial_prints_what_the_tutorial_shows(shell: ShellSession) -> None:
    port = PORT
    every = commands(DOCUMENT)
    for command in every:
        code, printed = shell.run(command.text.replace(f":{PORT}", f":{port}"))
        if command.text == "fleet local up" and (taken := re.search(r"http://127\.0\.0\.1:(\d+)", printed)):
            port = taken[1]
        where = f"{DOCUMENT.name}:{command.line}: {command.text}"
        wrong = difference(command.output, PROGRESS.sub("", printed.replace(f":{port}", f":{PORT}")))
        assert wrong is None, f"{where}\n{wrong}"
        assert (code != 0) == any(FAILS.search(line) for line in command.output), f"{where}: ended with {code}"
    assert len(every) > 25
