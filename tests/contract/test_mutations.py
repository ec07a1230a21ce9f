"""A renamed metric, a wrong dimension, a deleted runbook: each fails the build. Every place is tried, some for real."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import aws_cloudwatch as cw

from dashboards import widgets
from environments.alarm_linter import lint, of_template
from environments.alarms import around
from environments.documents import RUNBOOKS
from fleet import metrics
from fleet.metrics import MetricSpec
from tests.support.synthesis import app_run
from tests.support.templates import PROJECT_FOLDER
from tests.support.watching import ENVIRONMENTS, Json, flatten, watched

STACK = "observability"
NOT_COPIED = shutil.ignore_patterns(".*", "node_modules", "dist", "cdk.out*", "__pycache__", "__snapshots__")


def flat_template(environment: str) -> Json:
    """The template with alarms, whose dashboards are JSON that can be changed."""
    body = deepcopy(watched(environment).templates[STACK])
    for resource in body["Resources"].values():
        if resource["Type"] == "AWS::CloudWatch::Dashboard":
            resource["Properties"]["DashboardBody"] = json.loads(flatten(resource["Properties"]["DashboardBody"]))
    return body


def errors(body: Json, environment: str) -> set[str]:
    # A copy of all of it would take most of this file's time.
    resources = {name: _as_deployed(resource) for name, resource in body["Resources"].items()}
    made = {**body, "Resources": resources}
    findings = lint(of_template(made), around(watched(environment).environment))
    return {finding.code for finding in findings if finding.is_error}


def _as_deployed(resource: Json) -> Json:
    properties = resource.get("Properties", {})
    if not isinstance(properties.get("DashboardBody"), dict):
        return resource
    return {**resource, "Properties": {**properties, "DashboardBody": json.dumps(properties["DashboardBody"])}}


def read_by_alarms(body: Json) -> Iterator[Json]:
    """Every metric with dimensions that an alarm reads."""
    for resource in body["Resources"].values():
        if resource["Type"] == "AWS::CloudWatch::Alarm":
            properties = resource["Properties"]
            queries = [q["MetricStat"]["Metric"] for q in properties.get("Metrics", []) if "MetricStat" in q]
            yield from queries or [properties]


def drawn_by_widgets(body: Json) -> Iterator[list[Any]]:
    """Every row of a widget that names a metric."""
    for resource in body["Resources"].values():
        if resource["Type"] == "AWS::CloudWatch::Dashboard":
            for widget in resource["Properties"]["DashboardBody"]["widgets"]:
                yield from (row for row in widget["properties"].get("metrics", []) if len(row) > 2)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_what_is_deployed_has_no_error(environment: str) -> None:
    assert errors(flat_template(environment), environment) == set()


def test_every_metric_of_every_alarm_can_be_neither_renamed_nor_read_with_other_dimensions() -> None:
    body, tried = flat_template("dev"), 0

    for metric in read_by_alarms(body):
        name, dimensions = metric["MetricName"], metric["Dimensions"]
        for key, wrong, code in (
            ("MetricName", f"{name}X", "alarm-unknown-metric"),
            ("Dimensions", dimensions[1:], "alarm-wrong-dimensions"),
            ("Dimensions", [*dimensions, {"Name": "Node", "Value": "i-1"}], "alarm-wrong-dimensions"),
        ):
            right, metric[key] = metric[key], wrong
            assert errors(body, "dev") == {code}, (name, wrong)
            metric[key], tried = right, tried + 1

    assert tried > 100


def test_every_row_of_every_widget_can_be_neither_renamed_nor_read_with_other_dimensions() -> None:
    body, tried = flat_template("dev"), 0

    for row in drawn_by_widgets(body):
        kept = list(row)
        for wrong, code in (
            ([row[0], f"{row[1]}X", *row[2:]], "widget-unknown-metric"),
            ([*row[:2], f"{row[2]}X", *row[3:]], "widget-wrong-dimensions"),
        ):
            row[:] = wrong
            assert errors(body, "dev") == {code}, wrong
            row[:], tried = kept, tried + 1

    assert tried > 100


def test_every_runbook_that_an_alarm_names_must_be_there() -> None:
    body = of_template(watched("prod").templates[STACK])
    known = around(watched("prod").environment)
    keys = {alarm.key for alarm in body.every if alarm.notifies}

    for key in keys:
        found = [e for e in lint(body, replace(known, runbooks=known.runbooks - {key})) if e.is_error]
        assert {each.code for each in found} == {"alarm-without-runbook"}
        assert f"write docs/runbooks/{key}.md" in str(found[0])
    assert len(keys) > 30


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project, to be damaged."""
    copy = tmp_path / "project"
    shutil.copytree(PROJECT_FOLDER, copy, ignore=NOT_COPIED)
    (copy / ".venv").symlink_to(PROJECT_FOLDER / ".venv")
    return copy


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def damage(file: Path, right: str, wrong: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert right in text
    file.write_text(text.replace(right, wrong, 1), encoding="utf-8")


def test_without_a_runbook_the_environment_is_not_valid(project: Path) -> None:
    (project / RUNBOOKS.relative_to(PROJECT_FOLDER) / "JobHang.md").unlink()

    done = run(project, "-m", "cli", "validate", "environments/dev.yaml")

    assert done.returncode == 1
    assert "[alarm-without-runbook]" in done.stdout


def test_alarms_with_other_dimensions_cannot_even_be_made(project: Path) -> None:
    damage(project / "fleet/alarms/settings.py", "(metrics.FLEET, self.fleet)", "")

    done = run(project, "-m", "cli", "validate", "environments/dev.yaml")

    assert done.returncode == 1
    assert "is not published with dimensions ('Environment',)" in done.stdout + done.stderr


def test_a_metric_that_is_renamed_in_the_catalogue_is_missed_by_its_readers(project: Path) -> None:
    damage(project / "fleet/metrics.py", '"NodesBlind"', '"BlindNodes"')

    done = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/contract/test_metric_table.py")

    assert done.returncode == 1
    assert "BlindNodes" in done.stdout


def test_a_dashboard_that_reads_what_nobody_publishes_is_not_synthesized(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(spec: MetricSpec, statistic: str, environment: str, fleet: str, **style: Any) -> cw.Metric:
        return cw.Metric(
            namespace=metrics.NAMESPACE,
            metric_name=spec.name.lower() if spec is metrics.NODES_RUNNING else spec.name,
            statistic=statistic,
            dimensions_map={metrics.ENVIRONMENT: environment, "Cluster": fleet},
            **style,
        )

    monkeypatch.setattr(widgets, "series", wrong)

    made = app_run({"env": "dev"})

    assert made.refusal is not None
    assert "widget-wrong-dimensions" in made.refusal
    assert "widget-unknown-metric" in made.refusal
