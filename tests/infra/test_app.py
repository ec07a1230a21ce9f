"""The app as the CDK command runs it: the same bytes every time, or one clear line and nothing written."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cw
from aws_cdk import aws_sqs as sqs

from environments import loader
from environments.model import Environment
from stacks import app
from stacks.platform import Platform
from tests.support.synthesis import Synthesis, app_run, contents, synthesized
from tests.support.templates import PROJECT_FOLDER, cdk_context


def run_script(out: Path, **context: object) -> subprocess.CompletedProcess[str]:
    """`app.py` in a process of its own. It calls what ``app_run`` calls, and takes seconds to begin with that."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "CDK_"))}
    environment = {
        **inherited,
        "CDK_OUTDIR": str(out),
        "CDK_CONTEXT_JSON": json.dumps({**cdk_context(), **context}),
        "PYTHONPATH": str(PROJECT_FOLDER),
    }
    return subprocess.run(
        [sys.executable, "app.py"], cwd=PROJECT_FOLDER, env=environment, capture_output=True, text=True, check=False
    )


@cache
def shipped(environment: str) -> Synthesis:
    return synthesized(loader.FOLDER / f"{environment}.yaml")


def test_two_runs_write_the_same_bytes_and_ask_nobody_anything(tmp_path: Path) -> None:
    run = run_script(tmp_path, env="prod")
    assert (run.returncode, run.stdout) == (0, "")
    assert "ERROR" not in run.stderr
    first, second = contents(tmp_path), shipped("prod").written
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert "missing" not in json.loads(first["manifest.json"])


@pytest.mark.parametrize("environment", loader.available())
def test_every_environment_that_ships_is_synthesized_with_all_validations(environment: str) -> None:
    made = shipped(environment)
    assert (made.refusal, made.findings) == (None, ())
    assert f"{environment}network" in "".join(made.templates)


UNKNOWN = "environments: there is no environment 'production'; known: dev, local, prod, staging"


@pytest.mark.parametrize(
    ("context", "line"),
    [
        ({}, "environments: no environment is named; pass -c env=NAME with one of dev, local, prod, staging"),
        ({"env": "production"}, UNKNOWN),
    ],
)
def test_an_environment_that_is_not_there_is_refused(context: dict[str, str], line: str) -> None:
    made = app_run(context)
    assert (made.refusal, made.written) == (line, {})


def test_the_script_ends_with_the_refusal_on_one_line(tmp_path: Path) -> None:
    run = run_script(tmp_path, env="production")
    assert (run.returncode, run.stdout, run.stderr) == (1, "", UNKNOWN + "\n")
    assert contents(tmp_path) == {}


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
def test_a_mistake_in_a_file_is_one_line_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, instead: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "environments" / "prod.yaml"
    file.parent.mkdir()
    text = (loader.FOLDER / file.name).read_text()
    assert written in text
    file.write_text(text.replace(written, instead, 1))

    made = app_run({"env": "prod"})

    assert made.refusal == f"environments/prod.yaml: {MISTAKES[written, instead]}"
    assert made.written == {}


def with_more(monkeypatch: pytest.MonkeyPatch, add: Callable[[cdk.Stack], object]) -> None:
    """The platform that the app composes has something more among its operations."""

    def composed(scope: cdk.App, name: str, *, environment: Environment) -> Platform:
        platform = Platform(scope, name, environment=environment)
        add(platform.operations)
        return platform

    monkeypatch.setattr(app, "Platform", composed)


def strange_alarm(stack: cdk.Stack) -> None:
    cw.CfnAlarm(
        stack,
        "Strange",
        alarm_name="dev/platform/Strange",
        alarm_actions=["arn:aws:sns:us-east-2:111122225555:anybody"],
        namespace="AWS/SQS",
        metric_name="ApproximateAgeOfOldestMessage",
        dimensions=[cw.CfnAlarm.DimensionProperty(name="QueueName", value="q")],
        statistic="Maximum",
        period=60,
        comparison_operator="GreaterThanThreshold",
        threshold=1,
        evaluation_periods=1,
    )


def test_an_alarm_that_tells_people_without_a_runbook_ends_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    with_more(monkeypatch, strange_alarm)
    made = app_run({"env": "dev"})
    assert "dev/platform/Strange: it tells people to read Strange.md, which does not exist" in (made.refusal or "")


def test_a_security_finding_ends_the_app_whatever_stacks_the_command_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with_more(monkeypatch, lambda stack: sqs.Queue(stack, "Open"))

    # The command line says so to every app, and then judges the findings of the selected stacks itself.
    made = app_run({"env": "dev", "@aws-cdk/core:failSynthOnValidationErrors": False})

    assert "dev/operations/Open/Resource" in (made.refusal or "")
    assert "AwsSolutions-SQS4" in (made.refusal or "")
