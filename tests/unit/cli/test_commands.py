"""The `fleet` command answers a mistake with one clear line and exit code 1."""

import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from local import platform_state
from local.directory import only_one

PROD = "environments/prod.yaml"


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platform_state, "STATE_FILE", tmp_path / "state.json")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


def fleet(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def broken(directory: Path, before: str, after: str) -> str:
    path = directory / "prod.yaml"
    path.write_text(Path(PROD).read_text(encoding="utf-8").replace(before, after, 1), encoding="utf-8")
    return str(path)


def test_a_valid_file_is_called_valid() -> None:
    answer = fleet("validate", PROD)

    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[-1] == f"{PROD}: valid"


def test_a_misspelt_key_is_named_with_its_place(tmp_path: Path) -> None:
    answer = fleet("validate", broken(tmp_path, "instance_type:", "instance_typ:"))

    assert answer.exit_code == 1
    assert "fleets[0].instance_typ" in answer.stdout
    assert "Traceback" not in answer.output


def test_the_findings_come_as_json(tmp_path: Path) -> None:
    answer = fleet("validate", broken(tmp_path, "trn1.32xlarge", "trn2n.48xlarge"), "--json")

    findings = json.loads(answer.stdout)
    assert answer.exit_code == 1
    assert {"severity", "code", "path", "message", "fix"} <= set(findings[0])
    assert any("trn2n.48xlarge" in finding["message"] for finding in findings)


def test_a_file_that_is_not_there_is_an_error() -> None:
    assert fleet("validate", "environments/nowhere.yaml").exit_code == 1


@pytest.mark.parametrize("command", [("local", "status"), ("dashboards", "preview", "local")])
def test_a_platform_that_does_not_run_is_said_in_one_line(command: tuple[str, ...]) -> None:
    answer = fleet(*command)

    assert answer.exit_code == 1
    assert "fleet local up" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_where_the_platform_runs_is_told_as_json_too(monkeypatch: pytest.MonkeyPatch) -> None:
    state = platform_state.PlatformState("http://127.0.0.1:4566", 7, 0.0)
    monkeypatch.setattr(platform_state, "running", lambda: state)
    monkeypatch.setattr(platform_state.PlatformState, "resources", lambda _: 42)
    told = json.loads(fleet("local", "status", "--json").stdout)

    assert told == {"endpoint_url": "http://127.0.0.1:4566", "process": 7, "resources": 42}


def test_an_unknown_environment_is_answered_with_the_known_ones() -> None:
    answer = fleet("dashboards", "preview", "nowhere")

    assert answer.exit_code == 1
    assert "local" in answer.stderr


def test_an_endpoint_that_is_no_url_is_one_line() -> None:
    answer = fleet("dashboards", "preview", "local", "--endpoint-url", "nowhere", "--no-open-browser")

    assert answer.exit_code == 1
    assert answer.stderr.strip() == "nowhere is no endpoint; it looks like http://127.0.0.1:4566"


def test_pictures_without_chromium_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    answer = fleet("dashboards", "png", "local", "--out", str(tmp_path / "pictures"))

    assert (answer.exit_code, answer.stderr) == (1, "No chromium on this machine: apt-get install chromium\n")
    assert not (tmp_path / "pictures").exists()


def test_one_place_is_looked_at_and_not_two() -> None:
    answer = fleet("dashboards", "preview", "local", "--endpoint-url", "http://127.0.0.1:9", "--profile", "me")

    assert answer.exit_code == 1
    assert answer.stderr == "--endpoint-url is one place and --profile or --region another: give one of them\n"


def test_a_profile_that_is_not_there_is_one_line() -> None:
    answer = fleet("dashboards", "preview", "local", "--profile", "nobodys", "--no-open-browser")

    assert answer.exit_code == 1
    assert answer.stderr == (
        "there are no credentials that AWS accepts: The config profile (nobodys) could not be found; "
        "aws sso login, or set AWS_PROFILE\n"
    )


def test_nothing_to_end_is_no_error() -> None:
    assert fleet("local", "down").stdout == "nothing was running\n"


def test_a_port_in_use_is_said_before_anything_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.demo.run.missing_tools", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = fleet("local", "demo", "--once", "--port", str(port))

    assert answer.exit_code == 1
    assert answer.stderr.strip() == f"port {port} is in use: choose another with --port, or leave --port out"


def test_a_port_of_the_page_in_use_is_said_before_anything_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.demo.run.missing_tools", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = fleet("local", "demo", "--page-port", str(port))

    assert answer.exit_code == 1
    assert answer.stderr.strip() == f"port {port} is in use: choose another with --page-port, or leave --page-port out"


def test_two_demos_do_not_share_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("local.demo.run.missing_tools", lambda: None)
    monkeypatch.setattr("local.demo.run.DIRECTORY", tmp_path / "demo")
    (tmp_path / "demo").mkdir()
    with only_one(tmp_path / "demo.lock"):
        answer = fleet("local", "demo", "--once")

    assert answer.exit_code == 1
    assert answer.stderr.strip() == f"another demo runs in {tmp_path}: end it, or wait until it has ended"
    assert (tmp_path / "demo").is_dir()


def test_a_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("local.demo.run.missing_tools", lambda: None)
    monkeypatch.setattr("local.demo.run.DIRECTORY", tmp_path / "file" / "demo")
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    answer = fleet("local", "demo", "--once")

    assert answer.exit_code == 1
    assert answer.stderr.startswith(f"{tmp_path / 'file'}")
    assert "cannot be written" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_a_missing_command_line_of_the_cdk_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    answer = fleet("local", "demo", "--once")

    assert answer.exit_code == 1
    assert "make demo" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_a_scenario_that_is_not_there_is_named() -> None:
    answer = fleet("local", "demo", "--scenario", "nowhere.yaml")

    assert answer.exit_code == 1
    assert answer.stderr.strip() == "nowhere.yaml: No such file or directory"
