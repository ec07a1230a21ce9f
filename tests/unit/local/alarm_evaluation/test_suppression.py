"""Suppressors: the numbered examples of "Suppressing composite alarm actions" in the CloudWatch User Guide.

In all six the WaitPeriod is 2 units of time and the ExtensionPeriod 3, as in the guide. What the guide draws is written
as two lines of letters, one for each unit from t1: the composite's state, the suppressor's, and when actions are taken.
"""

from dataclasses import replace

import pytest

from local.alarm_evaluation import Action, AlarmSet, CompositeAlarm, State, Suppression
from local.alarm_evaluation.composite_rules import parse_rule
from tests.support.alarm_letters import MINUTE, Letters, letter_alarm

BEFORE = 10
EXAMPLES = {
    "1: actions are not suppressed after the WaitPeriod": (
        "OAAAAAAAA",
        "OOOOOOOOO",
        [(4, State.ALARM)],
    ),
    "2: actions are suppressed by the alarm before the WaitPeriod expires": (
        "OAAAAAAAA",
        "OOAAAAAAA",
        [],
    ),
    "3: state transition when actions are suppressed by the WaitPeriod": (
        "OAOOOOOOO",
        "OOOOOOOOO",
        [(5, State.OK)],
    ),
    "4: state transition when actions are suppressed by the alarm": (
        "OAAAOOOOO",
        "AAAAAAAAA",
        [],
    ),
    "5: actions are not suppressed after the ExtensionPeriod": (
        "OAAAAAAAAA",
        "OOAAAOOOOO",
        [(9, State.ALARM)],
    ),
    "6: state transition when actions are suppressed by the ExtensionPeriod": (
        "OAAAAAOOOO",
        "OOAAAOOOOO",
        [(9, State.OK)],
    ),
}
# The two drawings above the examples, with periods of six units.
DRAWINGS = {
    "the suppressor has until t8 to follow the composite": ("OAAAAAAAAA", "OOOAAAAAAA", []),
    "the composite has until t8 to follow the suppressor": ("AAAAOOOOOO", "AOOOOOOOOO", [(11, State.OK)]),
}


def _actions(composite: str, suppressor: str, suppression: Suppression) -> list[tuple[int, State]]:
    """When the composite takes which actions from t2 on; until t1 everything has long been as it is at t1."""
    child, other = (letters[0] * BEFORE + letters + letters[-1] * BEFORE for letters in (composite, suppressor))
    alarms = AlarmSet(Letters(child=child, suppressor=other))
    alarms.put(letter_alarm("child", actions_enabled=False), 0)
    alarms.put(letter_alarm("suppressor", actions_enabled=False), 0)
    alarms.put(CompositeAlarm(name="composite", rule=parse_rule("ALARM(child)"), suppression=suppression), 0)
    # What CloudWatch knows at a unit of time is the minute that ended then.
    events = [event for unit in range(1, len(child) + 1) for event in alarms.advance(unit * MINUTE)]
    taken = [(int(each.at / MINUTE) - BEFORE, each.change.state) for each in events if isinstance(each, Action)]
    return [(unit, state) for unit, state in taken if unit > 1]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_documented_examples(example: str) -> None:
    composite, suppressor, expected = EXAMPLES[example]

    assert _actions(composite, suppressor, Suppression("suppressor", 2 * MINUTE, 3 * MINUTE)) == expected


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_the_documented_drawings(drawing: str) -> None:
    composite, suppressor, expected = DRAWINGS[drawing]

    assert _actions(composite, suppressor, Suppression("suppressor", 6 * MINUTE, 6 * MINUTE)) == expected


def test_another_suppressor_discards_the_period_that_runs() -> None:
    # The tip below the examples: "any active WaitPeriod or ExtensionPeriod is discarded".
    alarms = AlarmSet(Letters(child="OAAAAAAA", suppressor="OOOOOOOO", other="OOOOOOOO"))
    for name in ("child", "suppressor", "other"):
        alarms.put(letter_alarm(name, actions_enabled=False), 0)
    composite = CompositeAlarm(name="composite", rule=parse_rule("ALARM(child)"), suppression=Suppression("suppressor"))
    alarms.put(replace(composite, suppression=Suppression("suppressor", 300, 300)), 0)
    before = [event for unit in range(1, 4) for event in alarms.advance(unit * MINUTE)]
    alarms.put(replace(composite, suppression=Suppression("other", 300, 300)), 3 * MINUTE)

    after = alarms.advance(4 * MINUTE)

    assert [event for event in before if isinstance(event, Action)] == []
    assert [event.change.state for event in after if isinstance(event, Action)] == [State.ALARM]
