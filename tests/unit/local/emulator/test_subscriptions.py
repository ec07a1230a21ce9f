"""Subscriptions: which events go to Firehose, and that what lies in S3 is what the roll-up reads."""

import pytest

from lambdas.cost_report.arrivals import events
from local.emulator.logs.subscriptions import FilterPatternError, _batch, matches


@pytest.mark.parametrize(
    ("pattern", "message", "goes"),
    [
        ("", "anything", True),
        ("{ $.seq = * }", '{"seq": 0}', True),
        ("{ $.seq = * }", '{"level": "INFO"}', False),
        ("{ $.seq = * }", "no json", False),
        ("{ $.seq = * }", "[1]", False),
        ('{ $.kind = "capacity" }', '{"kind": "capacity"}', True),
        ('{ $.kind = "capacity" }', '{"kind": "other"}', False),
    ],
)
def test_a_pattern_chooses_by_a_property(pattern: str, message: str, goes: bool) -> None:
    assert matches(pattern, message) is goes


def test_a_pattern_that_is_not_understood_is_not_taken_for_everything() -> None:
    with pytest.raises(FilterPatternError, match="not understood"):
        matches("{ $.a = 1 && $.b = 2 }", "{}")


def test_what_is_handed_over_is_what_the_roll_up_reads() -> None:
    content = _batch("nodes", "i-0a", "s", [{"timestamp": 1, "message": '{"seq": 1}'}])
    assert list(events(content + content)) == [{"seq": 1}, {"seq": 1}]
