"""2,000 random sets of alarms agree with a second implementation in every state and every action of 24 minutes.

The first 200 of them in every run of the tests, the others in the long ones.
"""

import itertools

import pytest

from tests.support.alarm_cases import Case

CASES = 2_000
CHUNKS = 20


@pytest.mark.parametrize("chunk", [0, 1, *(pytest.param(chunk, marks=pytest.mark.soak) for chunk in range(2, CHUNKS))])
def test_random_alarms_agree_with_the_reference(chunk: int) -> None:
    for seed in range(chunk * CASES // CHUNKS, (chunk + 1) * CASES // CHUNKS):
        case = Case(seed)
        found, expected = case.evaluated(), case.expected()

        assert found.states == expected.states, f"seed {seed}"
        assert sorted(found.actions) == sorted(expected.actions), f"seed {seed}"


def test_the_random_cases_reach_every_state_suppression_and_mute() -> None:
    states: set[str] = set()
    actions = 0
    transitions = 0
    for seed in range(100):
        history = Case(seed).evaluated()
        states |= {state for each in history.states.values() for state in each}
        actions += len(history.actions)
        transitions += sum(a != b for each in history.states.values() for a, b in itertools.pairwise(each))

    assert states == {"OK", "ALARM", "INSUFFICIENT_DATA"}
    assert 0 < actions < transitions
