"""WarmUpConfiguration, as PutMetricAlarm of the CloudWatch API reference describes it."""

from local.alarm_evaluation import Action, AlarmSet, State, Transition, TreatMissing, WarmUp
from tests.support.alarm_letters import MINUTE, Letters, letter_alarm, run, shown

SILENT = "-" * 12


def _states(letters: str, warm_up: WarmUp, minutes: int = 12) -> list[tuple[int, State]]:
    alarms = AlarmSet(Letters(a=letters))
    settings = {"evaluation_periods": 3, "datapoints_to_alarm": 3, "treat_missing": TreatMissing.BREACHING}
    alarms.put(letter_alarm("a", warm_up=warm_up, **settings), 0)
    events = run(alarms, minutes)
    taken = shown(events, Action)
    assert taken == shown(events, Transition)
    return [(minute, state) for _, minute, state in taken]


def test_silence_is_no_alarm_before_its_end() -> None:
    assert _states(SILENT, WarmUp(10)) == [(10, State.ALARM)]


def test_it_ends_early_when_data_fills_the_evaluation_window() -> None:
    assert _states("--AAAAAAAAAA", WarmUp(10)) == [(5, State.ALARM)]
    assert _states("-OO-OOO-OOOO", WarmUp(10)) == [(7, State.OK)]


def test_whole_it_does_not_end_early() -> None:
    assert _states("AAAAAAAAAAAA", WarmUp(10, whole=True)) == [(10, State.ALARM)]


def test_once_over_it_does_not_return_with_an_update() -> None:
    alarms = AlarmSet(Letters(a="OOO--------"))
    settings = {"evaluation_periods": 1, "treat_missing": TreatMissing.BREACHING}
    alarms.put(letter_alarm("a", warm_up=WarmUp(5), **settings), 0)
    run(alarms, 3)
    alarms.put(letter_alarm("a", warm_up=WarmUp(30), **settings), 3 * MINUTE)

    assert shown(run(alarms, 8, first=4), Transition) == [("a", 6, State.ALARM)]


def test_its_length_can_be_changed_while_it_lasts() -> None:
    alarms = AlarmSet(Letters(a=SILENT))
    alarms.put(letter_alarm("a", warm_up=WarmUp(5), treat_missing=TreatMissing.BREACHING), 0)
    run(alarms, 3)
    alarms.put(letter_alarm("a", warm_up=WarmUp(8), treat_missing=TreatMissing.BREACHING), 3 * MINUTE)
    status = alarms.status("a")

    assert status is not None
    assert status.warming_up
    assert shown(run(alarms, 12, first=4), Transition) == [("a", 8, State.ALARM)]
