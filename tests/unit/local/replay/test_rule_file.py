"""Anybody's rule file beside our own alarms: what it tells, and what is refused in one line."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from environments.alarm_export import Followed, rule_file
from fleet.alarms import ContributorSpec, Severity, contributor_alarms
from local.replay import rule_file as rules
from local.replay.rule_file import RuleFileError, load
from local.replay.run import FOLLOWED, SETS, replay, settings_of
from local.replay.scenario import CORPUS, Scenario
from local.replay.scenario import load as scenario_of
from local.replay.told import Told

IDLE = "max by (fleet, job) (last_over_time(neuron_fleet_job_idle[9m30s])) == 1"


def written(folder: Path, *alerts: Any) -> Path:
    file = folder / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "g", "rules": list(alerts)}]}), encoding="utf-8")
    return file


def told(scenario: Scenario, file: Path) -> tuple[Told, ...]:
    return replay(scenario, {rules.NAME: load(file).alarms}, CORPUS).told[rules.NAME]


@pytest.mark.parametrize("name", ["hang-one-job-of-two", "hardware-with-peers"])
def test_our_own_rules_as_a_file_tell_what_the_built_in_set_tells(name: str, tmp_path: Path) -> None:
    scenario = scenario_of(CORPUS / f"{name}.yaml")
    fleets = [
        Followed(each.environment, each.fleet, "ben", "https://runbooks", contributor_alarms(each))
        for each in (settings_of(scenario, fleet) for fleet in scenario.fleets)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump(rule_file(fleets)), encoding="utf-8")
    by_rules = {spec.key for spec in SETS[FOLLOWED](settings_of(scenario, fleets[0].fleet)) if _follows(spec)}
    built_in = replay(scenario, {FOLLOWED: SETS[FOLLOWED]}, CORPUS).told[FOLLOWED]

    found = told(scenario, file)

    assert found
    assert sorted(found, key=str) == sorted((each for each in built_in if each.alarm in by_rules), key=str)


def _follows(spec: object) -> bool:
    return isinstance(spec, ContributorSpec)


def test_a_rule_that_names_no_fleet_is_told_of_each_fleet_once(tmp_path: Path) -> None:
    file = written(tmp_path, {"alert": "Busy", "expr": "max by (fleet) (neuron_fleet_job_hung) >= 0", "for": "5m"})
    scenario = scenario_of(CORPUS / "three-fleets.yaml")

    assert {(each.fleet, each.alarm) for each in told(scenario, file)} == {(name, "Busy") for name in scenario.fleets}


def test_severities_durations_and_alerts_of_one_name_are_prometheuss(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"alert": "Idle", "expr": IDLE, "for": "1h30m", "labels": {"severity": "critical"}},
        {"alert": "Idle", "expr": IDLE, "keep_firing_for": "90s", "labels": {"severity": "warning"}},
        {"alert": "Other", "expr": IDLE, "for": "1d", "annotations": {"summary": "Somebody sleeps."}},
    )
    scenario = scenario_of(CORPUS / "idle-notebook.yaml")
    found = load(file).alarms(settings_of(scenario, "dev"))

    assert [(each.key, each.severity) for each in found] == [
        ("Idle-0", Severity.PAGE),
        ("Idle-1", Severity.TICKET),
        ("Other", Severity.TICKET),
    ]
    assert [(each.pending_seconds, each.recovery_seconds) for each in found] == [(5400, 0), (0, 90), (86_400, 0)]
    assert found[2].summary == "Somebody sleeps."


@pytest.mark.parametrize(
    ("alert", "words"),
    [
        ({"alert": "A", "expr": "rate(neuron_fleet_job_idle[5m]) > 0"}, "A: PromQL: rate"),
        ({"alert": "A", "expr": "neuron_fleet_job_idle >"}, "A: PromQL: "),
        ({"alert": "A", "expr": IDLE, "for": "soon"}, "groups.0.rules.0.for: value error, a duration such as 5m"),
        ({"alert": "A"}, "groups.0.rules.0.expr: field required"),
        ({"alert": "A", "expr": IDLE, "serverity": "page"}, "groups.0.rules.0.serverity: extra inputs"),
        ({"record": "a:b", "expr": IDLE}, "recording rules are not evaluated"),
        (
            {"alert": "A", "expr": 'neuron_fleet_job_idle{environment="prod"} == 1'},
            "A: scenarios have no environment prod; leave out the matchers of environment and fleet",
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_what_would_be_right(alert: Any, words: str, tmp_path: Path) -> None:
    file = written(tmp_path, alert)

    with pytest.raises(RuleFileError) as caught:
        load(file)

    assert str(caught.value).startswith(f"{file}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "groups: []", "groups: [", "- a", "\x00"])
def test_what_is_no_rule_file_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(RuleFileError, match=r"rules\.yml"):
        load(file)
    with pytest.raises(RuleFileError, match="No such file"):
        load(tmp_path / "none.yml")
