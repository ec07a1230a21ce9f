"""Without credentials every command that asks AWS says the same line, quickly."""

import threading
import time
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from cli.main import app
from tests.unit.cli.test_environment_names import ASKING

LINE: Final = (
    "there are no credentials that AWS accepts: Unable to locate credentials; aws sso login, or set AWS_PROFILE"
)
OFFLINE: Final = {("validate",), ("plan", "cost"), ("alarms", "export")}
PATHS: Final = sorted(set(ASKING) - OFFLINE)
# By the command: its arguments behind the environment, where it is not done with that alone.
FURTHER: Final[dict[tuple[str, ...], list[str]]] = {
    ("capacity", "search"): ["trn2-frontier"],
    ("capacity", "request"): ["trn2-frontier", "cb-0a1b2c3d4e5f60718"],
    ("capacity", "approve"): ["r-1", "--yes"],
    ("capacity", "reject"): ["r-1"],
    ("jobs", "show"): ["job-1"],
    ("jobs", "logs"): ["job-1"],
    ("jobs", "stop"): ["job-1", "--yes"],
    ("cache", "purge"): ["--failed", "--yes"],
    ("prices", "accept"): ["key"],
    ("budget", "approve"): [],
    ("dashboards", "preview"): ["--region", "us-east-2", "--no-open-browser"],
    ("dashboards", "png"): ["--region", "us-east-2", "--out", "pictures"],
}
ARTIFACT: Final = ["--fleet", "trn1-pretrain", "--model", "a/b", "--model-version", "1", "--sdk-version", "2.28",
                   "--sequence-lengths", "128"]  # fmt: skip
for _action in ("start", "status", "pause", "resume", "abort"):
    FURTHER["rollout", _action] = ["inf2-chat"]
FURTHER["cache", "check"] = FURTHER["cache", "promote"] = ARTIFACT
FURTHER["cache", "warm"] = [*ARTIFACT, "--", "true"]


_sleep = time.sleep


def _no_sleep(seconds: float) -> None:
    if threading.current_thread() is not threading.main_thread():
        # What another test has left running, as the embedded AWS's own threads are.
        _sleep(seconds)
        return
    pytest.fail(f"it waits {seconds} s to ask again")


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    # Asking again would be waiting: who has no credentials has none a second later.
    monkeypatch.setattr("time.sleep", _no_sleep)
    # A machine that is busy takes seconds to load what speaks to AWS.
    monkeypatch.setattr("cli.progress._FIRST_SECONDS", 60.0)
    # Another test's session would remember whose it was.
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    monkeypatch.setattr("local.dashboards_page.screenshot.chromium", lambda: "chromium")


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_no_credentials_are_one_line_and_the_same(path: tuple[str, ...]) -> None:
    answer = CliRunner().invoke(app, [*path, "prod", *FURTHER.get(path, [])])
    told = [line for line in answer.output.splitlines() if "credentials that AWS accepts" in line]
    assert answer.exit_code == 1, answer.output
    assert len(told) == 1, answer.output
    assert LINE in told[0]
    assert path == ("doctor",) or answer.stderr == f"{LINE}\n"


def test_a_submission_without_credentials_says_the_same_line() -> None:
    answer = CliRunner().invoke(app, ["jobs", "submit", "examples/pretraining/job.yaml", "--env", "prod", "--yes"])
    assert answer.exit_code == 1
    assert answer.output.count(LINE) == 1
