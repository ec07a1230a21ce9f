"""`fleet doctor` over an account in memory."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.doctor import command
from cli.main import app
from tests.support import doctored
from tests.support.recorded_account import RecordedAccount, content, sound

Found = list[dict[str, str]]


class Doctor:
    """The command over an account in memory and a file of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.file = content()
        self.answers = sound()
        self.checked = True
        self.account = RecordedAccount({})
        monkeypatch.setattr(command, "DoctorAccount", self._account)

    def _account(self, region: str) -> RecordedAccount:
        self.account = RecordedAccount(self.answers, checked=self.checked)
        assert region == self.account.region
        return self.account

    def run(self, *options: str) -> Result:
        file = doctored.write(self.folder, self.file)
        return CliRunner().invoke(app, ["doctor", str(file), "--on", doctored.TODAY, *options])

    def findings(self) -> Found:
        """Errors and warnings."""
        answer = self.run("--json")
        found: Found = json.loads(answer.stdout)
        assert answer.exit_code == int(any(each["severity"] == "error" for each in found))
        return [each for each in found if each["severity"] != "note"]

    def codes(self) -> dict[str, str]:
        return {each["code"]: each["severity"] for each in self.findings()}
