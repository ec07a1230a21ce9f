"""The rule language of composite alarms."""

import pytest

from fleet.alarm_evaluation import State
from fleet.alarm_evaluation.composite_rules import RuleError, parse_rule

STATES = {"low": State.ALARM, "waste": State.ALARM, "fault": State.OK, "new": State.INSUFFICIENT_DATA}


@pytest.mark.parametrize(
    ("rule", "truth"),
    [
        ('ALARM("low") AND ALARM("waste") AND NOT ALARM("fault")', True),
        ("ALARM(low) AND ALARM(fault) OR ALARM(waste)", True),
        ("ALARM(low) AND (ALARM(fault) OR NOT ALARM(waste))", False),
        ("OK(fault) AND INSUFFICIENT_DATA(new)", True),
        ("NOT NOT TRUE OR FALSE", True),
        ("NOT ALARM(low) OR FALSE", False),
        ("(NOT (ALARM(fault)))", True),
        ('ALARM("arn:aws:cloudwatch:us-east-2:000000000000:alarm:low")', True),
        ("ALARM(gone) OR OK(gone)", False),
    ],
)
def test_a_rule_holds_as_its_operators_bind(rule: str, truth: bool) -> None:
    assert parse_rule(rule).holds(STATES.get) is truth


def test_a_rule_tells_which_alarms_it_is_about() -> None:
    rule = parse_rule('ALARM("prod/trn1 \\"a\\"/Low") AND NOT OK(b) AND ALARM(b)')

    assert rule.alarms == ('prod/trn1 "a"/Low', "b")


@pytest.mark.parametrize("rule", ["", "ALARM", "ALARM(a", "ALARM(a) AND", "ALARM(a) ALARM(b)", "RED(a)", "(ALARM(a)"])
def test_a_malformed_rule_is_refused(rule: str) -> None:
    with pytest.raises(RuleError, match="alarm rule"):
        parse_rule(rule)
