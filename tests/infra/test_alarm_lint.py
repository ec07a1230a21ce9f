"""The linter at synthesis: an alarm that tells people needs a runbook, one that moves nodes needs none."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cw

from environments import loader
from environments.alarm_linter import lint, of_template
from stacks.app import NAME, AlarmLint, new_app
from tests.support.templates import templates

SCALING = {"Type": "AWS::AutoScaling::ScalingPolicy", "Properties": {}}
TOPIC = {"Type": "AWS::SNS::Topic", "Properties": {}}


def alarm_with(*actions: object) -> dict[str, Any]:
    alarm = {"AlarmName": "dev/inf2-small/Asleep", "AlarmActions": list(actions)}
    alarm |= {"Namespace": "AWS/SQS", "MetricName": "ApproximateAgeOfOldestMessage"}
    resources = {"Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm}, "Policy": SCALING, "Topic": TOPIC}
    return {"Resources": resources}


@pytest.mark.parametrize(
    ("actions", "tells_people"),
    [
        ([], False),
        ([{"Ref": "Policy"}], False),
        (["arn:aws:autoscaling:us-east-2:111122225555:scalingPolicy:1:autoScalingGroupName/a:policyName/b"], False),
        ([{"Ref": "Topic"}], True),
        ([{"Ref": "Policy"}, {"Ref": "Topic"}], True),
        (["arn:aws:sns:us-east-2:111122225555:neuron-fleet-dev-page"], True),
        ([{"Fn::ImportValue": "somebody-elses"}], True),
        ([{"Ref": "NotInThisTemplate"}], True),
    ],
)
def test_an_alarm_tells_people_unless_all_that_it_calls_moves_nodes(actions: list[object], tells_people: bool) -> None:
    (alarm,) = of_template(alarm_with(*actions)).alarms
    assert alarm.notifies is tells_people


def test_the_scaling_alarms_of_an_endpoint_are_linted_for_all_but_a_runbook() -> None:
    found = of_template(templates("dev")["inference"].body).alarms
    assert {alarm.name.rpartition("small-")[2] for alarm in found} == {"scale-in", "to-zero", "wake"}
    assert not any(alarm.notifies for alarm in found)
    assert all(alarm.series for alarm in found)
    around = AlarmLint(loader.load("dev"))._around
    assert [
        finding for finding in lint(of_template(templates("dev")["inference"].body), around) if finding.is_error
    ] == []


def synthesize_alarm(out: Path, actions: list[str], metric: str) -> dict[str, Any]:
    app = new_app(out=out)
    cw.CfnAlarm(
        cdk.Stack(app, "watched"),
        "Alarm",
        alarm_name="dev/platform/Strange",
        alarm_actions=actions,
        namespace="AWS/SQS",
        metric_name=metric,
        dimensions=[cw.CfnAlarm.DimensionProperty(name="QueueName", value="q")],
        statistic="Maximum",
        period=60,
        comparison_operator="GreaterThanThreshold",
        threshold=1,
        evaluation_periods=1,
    )
    cdk.Validations.of(app).add_plugins(AlarmLint(loader.load("dev")))
    app.synth()
    report: dict[str, Any] = json.loads((out / "validation-report.json").read_text())
    return report


@pytest.mark.parametrize(
    ("actions", "metric", "rule", "said"),
    [
        (
            ["arn:aws:sns:us-east-2:111122225555:page"],
            "ApproximateAgeOfOldestMessage",
            "alarm-without-runbook",
            "dev/platform/Strange: it tells people to read Strange.md, which does not exist",
        ),
        (
            [],
            "AgeOfTheOldest",
            "alarm-unknown-metric",
            "dev/platform/Strange: nobody publishes AgeOfTheOldest in AWS/SQS",
        ),
    ],
)
def test_a_template_with_a_bad_alarm_is_refused(
    tmp_path: Path, actions: list[str], metric: str, rule: str, said: str
) -> None:
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesize_alarm(tmp_path, actions, metric)
    (plugin,) = [
        each
        for each in json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"]
        if each["pluginName"] == NAME
    ]
    (found,) = plugin["violations"]
    assert (found["ruleName"], found["description"]) == (rule, said)
    assert found["suggestedFix"]


def test_a_template_with_a_good_alarm_is_not(tmp_path: Path) -> None:
    synthesize_alarm(tmp_path, [], "ApproximateAgeOfOldestMessage")
