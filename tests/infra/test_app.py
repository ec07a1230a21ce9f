"""The app as the CDK command runs it: the same bytes every time, or one clear line and nothing written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from environments import loader
from tests.support.synthesis import synthesized
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


@pytest.mark.parametrize("environment", loader.available())
def test_every_environment_that_ships_is_synthesized_with_all_validations(environment: str) -> None:
    made = synthesized(loader.FOLDER / f"{environment}.yaml")
    assert (made.refusal, made.findings) == (None, ())
    assert f"{environment}network" in "".join(made.templates)


def test_the_file_that_people_copy_is_synthesized_by_the_script_itself(tmp_path: Path) -> None:
    run = run_app(PROJECT_FOLDER, tmp_path, env="dev")
    assert (run.returncode, run.stdout) == (0, "")
    assert "ERROR" not in run.stderr


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


def with_other_stacks(folder: Path, file: str, written: str, instead: str) -> None:
    """A copy of the project in which one file of the stacks says something else."""
    shutil.copytree(PROJECT_FOLDER / "stacks", folder / "stacks")
    shutil.copy(PROJECT_FOLDER / "app.py", folder)
    for room in ("environments", *ROOMS, "docs"):
        if room != "stacks":
            (folder / room).symlink_to(PROJECT_FOLDER / room)
    changed = folder / "stacks" / file
    assert written in changed.read_text()
    changed.write_text(changed.read_text().replace(written, instead))


def test_an_alarm_that_tells_people_without_a_runbook_ends_the_app(tmp_path: Path) -> None:
    topic = '"arn:aws:sns:us-east-2:111122225555:anybody"'
    with_other_stacks(tmp_path, "constructs/endpoint_scaling.py", "[policy.ref]", f"[policy.ref, {topic}]")
    run = run_app(tmp_path, tmp_path / "out", env="dev")
    assert run.returncode == 1
    wake = "neuron-fleet-dev-inf2-small-wake"
    assert f"{wake}: it tells people to read {wake}.md, which does not exist" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_security_finding_ends_the_app_whatever_stacks_the_command_asks_for(tmp_path: Path) -> None:
    with_other_stacks(tmp_path, "constructs/function_state.py", "enforce_ssl=True", "enforce_ssl=False")

    # The command line says so to every app, and then judges the findings of the selected stacks itself.
    told = {"@aws-cdk/core:failSynthOnValidationErrors": False}
    run = run_app(tmp_path, tmp_path / "out", env="dev", **told)

    assert run.returncode == 1
    assert "dev/operations/Undelivered/Resource" in run.stderr
    assert "AwsSolutions-SQS4" in run.stderr
    assert "Traceback" not in run.stderr
