"""The rule language of composite alarms."""

import pytest

from local.alarm_evaluation import State
from local.alarm_evaluation.composite_rules import RuleError, parse_rule

AT_LEAST = [
    "AT_LEAST",
    "AT_LEAST(0, ALARM, (a))",
    "AT_LEAST(3, ALARM, (a, b))",
    "AT_LEAST(101%, ALARM, (a))",
    "AT_LEAST(1, RED, (a))",
    "AT_LEAST(1, ALARM, ())",
    "AT_LEAST(1, ALARM, (a)",
    "AT_LEAST(1, ALARM, a)",
]
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
        ("AT_LEAST(2, ALARM, (low, waste, fault))", True),
        ("AT_LEAST(3, ALARM, (low, waste, fault))", False),
        ('AT_LEAST(60%, NOT OK, ("low", "waste", "fault"))', True),
        ("AT_LEAST(67%, ALARM, (low, waste, fault))", False),
        ("AT_LEAST(50%, ALARM, (low,fault))", True),
        ("AT_LEAST(51%, ALARM, (low,fault))", False),
        ('AT_LEAST(1, OK, ("arn:aws:cloudwatch:us-east-2:000000000000:alarm:fault", low)) AND ALARM(low)', True),
        ("NOT AT_LEAST( 1 , INSUFFICIENT_DATA , ( new ) )", False),
        ("AT_LEAST(1, NOT ALARM, (gone))", True),
    ],
)
def test_a_rule_holds_as_its_operators_bind(rule: str, truth: bool) -> None:
    assert parse_rule(rule).holds(STATES.get) is truth


def test_a_rule_tells_which_alarms_it_is_about() -> None:
    rule = parse_rule('ALARM("prod/trn1 \\"a\\"/Low") AND NOT OK(b) AND ALARM(b)')

    assert rule.alarms == ('prod/trn1 "a"/Low', "b")


@pytest.mark.parametrize(
    "rule", ["", "ALARM", "ALARM(a", "ALARM(a) AND", "ALARM(a) ALARM(b)", "RED(a)", "(ALARM(a)", *AT_LEAST]
)
def test_a_malformed_rule_is_refused(rule: str) -> None:
    with pytest.raises(RuleError, match="alarm rule"):
        parse_rule(rule)


@pytest.mark.parametrize(
    ("rule", "states", "truth"),
    [
        ("ALARM(CPUUtilizationTooHigh) AND ALARM(DiskReadOpsTooHigh)", "A A", True),
        ("ALARM(CPUUtilizationTooHigh) AND ALARM(DiskReadOpsTooHigh)", "A O", False),
        ("ALARM(CPUUtilizationTooHigh) AND NOT ALARM(DiskReadOpsTooHigh)", "A O", True),
        ("ALARM(CPUUtilizationTooHigh) AND NOT ALARM(DiskReadOpsTooHigh)", "A A", False),
        ("(ALARM(CPUUtilizationTooHigh) OR ALARM(DiskReadOpsTooHigh)) AND OK(NetworkOutTooHigh)", "O A O", True),
        ("(ALARM(CPUUtilizationTooHigh) OR ALARM(DiskReadOpsTooHigh)) AND OK(NetworkOutTooHigh)", "A A A", False),
        ("(ALARM(CPUUtilizationTooHigh) OR ALARM(DiskReadOpsTooHigh)) AND OK(NetworkOutTooHigh)", "O O O", False),
    ],
)
def test_the_documented_rules_hold_as_the_guide_says(rule: str, states: str, truth: bool) -> None:
    """The three examples of "Creating a composite alarm" in the CloudWatch User Guide, in words there."""
    names = ("CPUUtilizationTooHigh", "DiskReadOpsTooHigh", "NetworkOutTooHigh")
    known = {name: {"A": State.ALARM, "O": State.OK}[state] for name, state in zip(names, states.split(), strict=False)}

    assert parse_rule(rule).holds(known.get) is truth


@pytest.mark.parametrize(
    ("rule", "in_alarm", "truth"),
    [
        ("AT_LEAST(2, ALARM, (WebServer1CPU, WebServer2CPU, WebServer3CPU, WebServer4CPU))", "WebServer1CPU", False),
        (
            "AT_LEAST(2, ALARM, (WebServer1CPU, WebServer2CPU, WebServer3CPU, WebServer4CPU))",
            "WebServer1CPU WebServer4CPU",
            True,
        ),
        ("AT_LEAST(50%, OK, (Database1, Database2, Database3, Database4))", "Database1 Database2", True),
        ("AT_LEAST(50%, OK, (Database1, Database2, Database3, Database4))", "Database1 Database2 Database3", False),
        ("AT_LEAST(2, ALARM, (AZ1Health, AZ2Health, AZ3Health)) AND NOT ALARM(Upkeep)", "AZ1Health AZ3Health", True),
        ("AT_LEAST(2, ALARM, (AZ1Health, AZ2Health, AZ3Health)) AND NOT ALARM(Upkeep)", "AZ1Health", False),
        (
            "AT_LEAST(2, ALARM, (AZ1Health, AZ2Health, AZ3Health)) AND NOT ALARM(Upkeep)",
            "AZ1Health AZ2Health Upkeep",
            False,
        ),
        ('AT_LEAST("50%", OK, (DB1, DB2))', "DB1", True),
    ],
)
def test_the_documented_at_least_rules_hold_as_the_guide_says(rule: str, in_alarm: str, truth: bool) -> None:
    """The examples of "Composite alarms" in the CloudWatch User Guide; all other alarms are OK."""
    alarming = set(in_alarm.split())

    assert parse_rule(rule).holds(lambda name: State.ALARM if name in alarming else State.OK) is truth
