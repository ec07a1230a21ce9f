"""CloudWatch's own example tables are the specification of the alarm evaluation."""

import pytest

from local.alarm_evaluation import State, evaluate, evaluation_range

RETAIN = "Retain current state"
# "Configuring how CloudWatch alarms treat missing data", both tables: 0 is good, X is breaching, - is missing.
# Columns: missing, ignore, breaching, notBreaching.
THREE_OF_THREE = [
    ("0 - X - X", "OK", "OK", "OK", "OK"),
    ("0 - - - -", "OK", "OK", "OK", "OK"),
    ("- - - - -", "INSUFFICIENT_DATA", RETAIN, "ALARM", "OK"),
    ("0 X X - X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("- - X - -", "ALARM", RETAIN, "ALARM", "OK"),
]
TWO_OF_THREE = [
    ("0 - X - X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("0 0 X 0 X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("0 - X - -", "OK", "OK", "ALARM", "OK"),
    ("- - - - 0", "OK", "OK", "ALARM", "OK"),
    ("- - - X -", "ALARM", RETAIN, "ALARM", "OK"),
]
# The same tables in the guide's edition of 2019: two more examples.
EARLIER_THREE_OF_THREE = [
    ("- - - - X", "INSUFFICIENT_DATA", RETAIN, "ALARM", "OK"),
    ("X - - - -", "ALARM", RETAIN, "ALARM", "OK"),
]
EARLIER_TWO_OF_THREE = [("- - - - X", "INSUFFICIENT_DATA", RETAIN, "ALARM", "OK")]
TREATMENTS = ("missing", "ignore", "breaching", "notBreaching")
ROWS = [(3, row[0], row[1:]) for row in THREE_OF_THREE + EARLIER_THREE_OF_THREE] + [
    (2, row[0], row[1:]) for row in TWO_OF_THREE + EARLIER_TWO_OF_THREE
]


def _state(points: str, needed: int, treatment: str, previous: State = State.OK) -> State:
    values = {"0": 0.0, "X": 1.0, "-": None}
    return evaluate(
        [values[point] for point in points.split()],
        comparison="GreaterThanThreshold",
        threshold=0.5,
        evaluation_periods=3,
        datapoints_to_alarm=needed,
        treat_missing=treatment,
        previous_state=previous,
    ).state


@pytest.mark.parametrize(("needed", "points", "expected"), ROWS)
@pytest.mark.parametrize("previous", list(State))
def test_every_row_of_the_documented_tables_holds_from_every_previous_state(
    needed: int, points: str, expected: tuple[str, ...], previous: State
) -> None:
    found = [_state(points, needed, treatment, previous) for treatment in TREATMENTS]

    assert found == [previous if state == RETAIN else State(state) for state in expected]


@pytest.mark.parametrize("points", ["- - - - X", "- - - X -", "- - - X 0", "- - X - 0"])
def test_a_breaching_point_that_may_be_followed_by_a_good_one_does_not_alarm_yet(points: str) -> None:
    # "Avoiding premature transitions to alarm state": these four, and "- - X - -" does.
    assert _state(points, 3, "missing") is not State.ALARM


def test_the_documented_graph_of_three_of_three_alarms_at_the_fifth_period_and_is_ok_at_the_sixth() -> None:
    # "Evaluating an alarm": threshold 3; the third to fifth periods are above, the sixth is not, the ninth is alone.
    values = [2.0, 2.5, 4.0, 5.0, 4.0, 2.0, 1.0, 2.0, 4.0, 2.0]

    found = [
        evaluate(
            values[max(0, end - 5) : end], comparison="GreaterThanThreshold", threshold=3, evaluation_periods=3
        ).state
        for end in range(3, len(values) + 1)
    ]

    assert [state is State.ALARM for state in found] == [False, False, True, False, False, False, False, False]


def test_twelve_of_fifteen_alarms_at_the_twelfth_breaching_minute_and_not_before() -> None:
    def state(breaching: int) -> State:
        points = [60.0] * (17 - breaching) + [10.0] * breaching
        return evaluate(
            points,
            comparison="LessThanThreshold",
            threshold=20,
            evaluation_periods=15,
            datapoints_to_alarm=12,
            treat_missing="notBreaching",
        ).state

    assert (state(11), state(12)) == (State.OK, State.ALARM)


@pytest.mark.parametrize(
    ("comparison", "breaching"),
    [
        ("GreaterThanThreshold", [6]),
        ("GreaterThanOrEqualToThreshold", [5, 6]),
        ("LessThanThreshold", [4]),
        ("LessThanOrEqualToThreshold", [4, 5]),
    ],
)
def test_each_comparison_decides_at_the_threshold_itself(comparison: str, breaching: list[int]) -> None:
    alarming = [
        value
        for value in (4, 5, 6)
        if evaluate([value], comparison=comparison, threshold=5, evaluation_periods=1).state is State.ALARM
    ]

    assert alarming == breaching


def test_the_range_looks_back_two_periods_further_than_the_alarm_asks_for() -> None:
    assert evaluation_range(3) == 5


def test_the_reason_says_how_many_datapoints_crossed_which_threshold() -> None:
    verdict = evaluate([50.0, 5.0, 4.5], comparison="LessThanThreshold", threshold=20, evaluation_periods=2)

    assert verdict.reason == (
        "Threshold Crossed: 2 out of the last 2 datapoints [4.5, 5] were less than the threshold (20)."
    )


def test_silence_that_counts_as_breaching_is_named_in_the_reason() -> None:
    verdict = evaluate(
        [None] * 5, comparison="LessThanThreshold", threshold=4, evaluation_periods=3, treat_missing="breaching"
    )

    assert verdict.reason == (
        "Threshold Crossed: no datapoints were received for 3 periods and 3 missing datapoints were treated as "
        "[Breaching]."
    )
