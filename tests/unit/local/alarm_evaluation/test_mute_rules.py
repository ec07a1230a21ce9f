"""What muted alarms do: the scenarios of "How alarm mute rules work" in the CloudWatch User Guide."""

from collections.abc import Sequence

from local.alarm_evaluation import Action, AlarmSet, CompositeAlarm, State, Suppression
from local.alarm_evaluation.composite_rules import parse_rule
from local.alarm_evaluation.schedules import Once
from local.alarm_evaluation.suppression import MuteRule
from tests.support.alarm_letters import MINUTE, Letters, letter_alarm


def _mute(name: str, opens: int, ends: int, alarm: str = "a") -> MuteRule:
    window = Once(opens * MINUTE)
    return MuteRule(name=name, schedule=window, seconds=(ends - opens) * MINUTE, alarms=frozenset({alarm}))


def _taken(letters: str, *rules: MuteRule) -> list[tuple[int, State]]:
    """The actions from t1 on; a letter is the state that the alarm has from t0, t1, … on."""
    alarms = AlarmSet(Letters(a=letters))
    alarms.put(letter_alarm("a"), 0)
    for rule in rules:
        alarms.mute(rule)
    events = [event for unit in range(len(letters)) for event in alarms.advance((unit + 1) * MINUTE)]
    return _actions(events, first=1)


def _actions(events: Sequence[object], first: int) -> list[tuple[int, State]]:
    """The minute after t0 in which each action was taken; what is created at t0 is evaluated a minute later."""
    taken = [(int(each.at / MINUTE) - 1, each.change.state) for each in events if isinstance(each, Action)]
    return [(unit, state) for unit, state in taken if unit >= first]


def _window(opens: int, ends: int, name: str = "r") -> MuteRule:
    """A window in units after t0."""
    return _mute(name, opens + 1, ends + 1)


def test_actions_are_muted_while_a_rule_is_active() -> None:
    # Active from t1 to t5; ALARM at t2, OK at t4: no ALARM action at t5.
    taken = _taken("OOAAOOO", _window(1, 5))

    assert State.ALARM not in [state for _, state in taken]


def test_a_muted_action_is_taken_after_the_window_if_the_alarm_is_still_in_that_state() -> None:
    assert _taken("OOAAAAA", _window(1, 5)) == [(5, State.ALARM)]


def test_overlapping_rules_mute_until_the_last_of_them_ends() -> None:
    # Rule 1 mutes from t1 to t5, rule 2 from t3 to t8, where the guide has the action; its list of rules says t9.
    assert _taken("OOAAAAAAAA", _window(1, 5, "1"), _window(3, 8, "2")) == [(8, State.ALARM)]


def test_the_actions_of_every_state_are_muted() -> None:
    assert _taken("OAAOOOO", _window(2, 5)) == [(1, State.ALARM), (5, State.OK)]
    assert _taken("OAA----", _window(2, 5)) == [(1, State.ALARM), (5, State.INSUFFICIENT_DATA)]


def test_an_action_taken_before_the_window_is_not_taken_again_after_it() -> None:
    assert _taken("OAAAAAAA", _window(2, 5)) == [(1, State.ALARM)]


def test_an_update_that_ends_the_window_or_drops_the_alarm_unmutes_it() -> None:
    # Muted from t1 to t8, ALARM at t2, updated at t6.
    for update in (_window(1, 6), _mute("r", 2, 9, alarm="other")):
        alarms = AlarmSet(Letters(a="OOAAAAAAAA"))
        alarms.put(letter_alarm("a"), 0)
        alarms.mute(_window(1, 8))
        events = [event for unit in range(6) for event in alarms.advance((unit + 1) * MINUTE)]
        alarms.mute(update)

        assert _actions(events, first=1) == []
        assert _actions(alarms.advance(7 * MINUTE), first=1) == [(6, State.ALARM)]


def test_a_rule_taken_away_ends_its_window() -> None:
    alarms = AlarmSet(Letters(a="OAAAAA"))
    alarms.put(letter_alarm("a"), 0)
    alarms.advance(MINUTE)
    alarms.mute(_mute("r", 1, 9))
    muted = [event for unit in (2, 3) for event in alarms.advance(unit * MINUTE)]
    status = alarms.status("a")
    alarms.unmute("r")

    assert _actions(muted, first=0) == []
    assert status is not None
    assert status.muted
    assert _actions(alarms.advance(4 * MINUTE), first=0) == [(3, State.ALARM)]


def test_a_composite_waits_for_both_its_suppressor_and_its_mute_rule() -> None:
    alarms = AlarmSet(Letters(a="OAAAAAAAAAA", s="OAAAOOOOOOO"))
    for name in ("a", "s"):
        alarms.put(letter_alarm(name, actions_enabled=False), 0)
    alarms.put(CompositeAlarm(name="c", rule=parse_rule("ALARM(a)"), suppression=Suppression("s", 0, MINUTE)), 0)
    alarms.mute(_mute("r", 1, 9, alarm="c"))

    events = [event for unit in range(1, 12) for event in alarms.advance(unit * MINUTE)]

    assert [(int(each.at / MINUTE), each.change.state) for each in events if isinstance(each, Action)] == [
        (9, State.ALARM)
    ]
