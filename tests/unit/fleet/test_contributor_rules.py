"""What every rule that follows jobs and nodes keeps to, whatever it tells of."""

import re
from dataclasses import replace

import pytest

from fleet.alarms import ContributorSpec, Severity, contributor_alarms, fleet_alarms
from fleet.fleet_spec import MarketKind
from fleet.serving.scaling import Scaling, Targets
from local.alarm_evaluation.promql import parse, selectors_in
from tests.support.followed_fleet import ENVIRONMENT, FLEET, settings

# Of PutMetricAlarm, PromQLCriteria: CloudWatch API reference, read 2026-11-22.
LONGEST_EXPRESSION, LONGEST_PERIOD = 10_000, 86_400
# All that an hour and a quarter of a silent node needs.
FURTHEST_SECONDS = 75 * 60
TRAINING, SERVING = contributor_alarms(settings()), contributor_alarms(settings(purpose="inference"))
EVERY = [
    *(pytest.param(rule, id=f"{rule.key}-training") for rule in TRAINING),
    *(pytest.param(rule, id=f"{rule.key}-inference") for rule in SERVING if rule not in TRAINING),
]


@pytest.mark.parametrize("rule", EVERY)
def test_every_series_is_selected_by_environment_and_fleet_and_over_a_range(rule: ContributorSpec) -> None:
    for selector, seconds in selectors_in(parse(rule.expression)):
        asked = {each.name: each for each in selector.matchers}
        assert asked["environment"].holds(ENVIRONMENT)
        assert not asked["environment"].holds("dev")
        assert asked["fleet"].holds(FLEET)
        assert not asked["fleet"].holds("other")
        assert 0 < seconds <= FURTHEST_SECONDS


@pytest.mark.parametrize("rule", EVERY)
def test_every_rule_is_within_the_limits_of_cloudwatch(rule: ContributorSpec) -> None:
    assert len(rule.expression) < LONGEST_EXPRESSION
    assert 0 <= rule.pending_seconds <= LONGEST_PERIOD
    assert 0 <= rule.recovery_seconds <= LONGEST_PERIOD


@pytest.mark.parametrize("rule", EVERY)
def test_no_range_is_a_whole_number_of_minutes(rule: ContributorSpec) -> None:
    assert re.findall(r"\[\w+\]", rule.expression)
    assert not re.findall(r"\[\d+[mh]\]", rule.expression)


@pytest.mark.parametrize("rule", EVERY)
def test_a_rule_says_what_the_classic_alarm_of_its_key_says(rule: ContributorSpec) -> None:
    purpose = "training" if rule in TRAINING else "inference"
    same = {spec.key: spec for spec in fleet_alarms(settings(purpose=purpose))}[rule.key]
    assert replace(rule.page("https://runbooks"), contributor=()) == same.page("https://runbooks")


def test_an_endpoint_that_is_idle_or_wastes_wakes_nobody() -> None:
    severity = {rule.key: rule.severity for rule in SERVING}
    assert severity["IdleAllocated"] is severity["LowUtilization"] is Severity.TICKET
    assert {"JobHang", "NonFiniteLoss", "Straggler"}.isdisjoint(severity)
    assert "CacheMissWhileServing" in severity


@pytest.mark.parametrize(
    "changed",
    [{"market": MarketKind.SPOT}, {"purpose": "inference", "scaling": Scaling(least=1, most=4, targets=Targets())}],
)
def test_where_nodes_come_and_go_by_themselves_only_ec2_knows_a_silent_one_from_one_that_ended(
    changed: dict[str, object],
) -> None:
    assert "AgentSilent" not in {rule.key for rule in contributor_alarms(settings(**changed))}
