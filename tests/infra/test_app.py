"""The app as the CDK command runs it: the same bytes every time, or one clear line and nothing written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.templates import PROJECT_FOLDER, cdk_context

ROOMS = ("fleet", "stacks", "dashboards", "agents", "lambdas")


def run_app(folder: Path, out: Path, **context: object) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "CDK_"))}
    flags = {**cdk_context(), **context}
    environment = {
        **inherited,
        "CDK_OUTDIR": str(out),
        "CDK_CONTEXT_JSON": json.dumps(flags),
        "PYTHONPATH": str(folder),
    }
    return subprocess.run(
        [sys.executable, "app.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_two_runs_write_the_same_bytes_and_ask_nobody_anything(tmp_path: Path) -> None:
    for out in ("one", "two"):
        run = run_app(PROJECT_FOLDER, tmp_path / out, env="prod")
        assert (run.returncode, run.stdout) == (0, "")
    first, second = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert "missing" not in json.loads(first["manifest.json"])


@pytest.mark.parametrize(
    ("context", "line"),
    [
        ({}, "environments: no environment is named; pass -c env=NAME with one of dev, local, prod, staging"),
        ({"env": "production"}, "environments: there is no environment 'production'; known: dev, local, prod, staging"),
    ],
)
def test_an_environment_that_is_not_there_is_refused(tmp_path: Path, context: dict[str, str], line: str) -> None:
    run = run_app(PROJECT_FOLDER, tmp_path / "out", **context)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", line + "\n")
    assert contents(tmp_path / "out") == {}


MISTAKES = {
    ("instance_type: trn1.32", "instance_typ: trn1.32"): (
        "fleets[0].instance_typ: unknown key; did you mean instance_type?"
    ),
    ("trn2.48xlarge", "trn2n.48xlarge"): (
        "fleets[1].instance_type: trn2n.48xlarge is not an instance type; EC2 has no such type; the second "
        "Trainium2 sizes are trn2u.48xlarge (UltraServer node) and trn2.3xlarge"
    ),
    ("type: inf2.48xlarge", "type: trn2u.48xlarge"): (
        "fleets[2].instance_type: trn2u.48xlarge is not offered in us-east-2 (as of 2026-08-01); "
        "it is offered in ap-south-2"
    ),
    ("type: inf2.48xlarge", "type: inf2.48xlarge\n    efa: true"): (
        "fleets[2].efa: inf2.48xlarge has no EFA; remove efa, or choose a type that has it"
    ),
}


@pytest.mark.parametrize(("written", "instead"), MISTAKES)
def test_a_mistake_in_a_file_is_one_line_and_writes_nothing(tmp_path: Path, written: str, instead: str) -> None:
    shutil.copytree(PROJECT_FOLDER / "environments", tmp_path / "environments")
    shutil.copy(PROJECT_FOLDER / "app.py", tmp_path)
    for room in (*ROOMS, "docs"):
        (tmp_path / room).symlink_to(PROJECT_FOLDER / room)
    file = tmp_path / "environments" / "prod.yaml"
    assert written in file.read_text()
    file.write_text(file.read_text().replace(written, instead, 1))

    run = run_app(tmp_path, tmp_path / "out", env="prod")

    assert (run.returncode, run.stdout, run.stderr) == (
        1,
        "",
        f"environments/prod.yaml: {MISTAKES[written, instead]}\n",
    )
    assert contents(tmp_path / "out") == {}


def test_a_security_finding_ends_the_app_whatever_stacks_the_command_asks_for(tmp_path: Path) -> None:
    shutil.copytree(PROJECT_FOLDER / "stacks", tmp_path / "stacks")
    shutil.copy(PROJECT_FOLDER / "app.py", tmp_path)
    for room in ("environments", *ROOMS, "docs"):
        if room != "stacks":
            (tmp_path / room).symlink_to(PROJECT_FOLDER / room)
    file = tmp_path / "stacks" / "constructs" / "function_state.py"
    assert "enforce_ssl=True" in file.read_text()
    file.write_text(file.read_text().replace("enforce_ssl=True", "enforce_ssl=False"))

    # The command line says so to every app, and then judges the findings of the selected stacks itself.
    told = {"@aws-cdk/core:failSynthOnValidationErrors": False}
    run = run_app(tmp_path, tmp_path / "out", env="dev", **told)

    assert run.returncode == 1
    assert "dev/operations/Undelivered/Resource" in run.stderr
    assert "AwsSolutions-SQS4" in run.stderr
    assert "Traceback" not in run.stderr
