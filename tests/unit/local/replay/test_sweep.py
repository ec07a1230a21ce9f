"""A sweep gives one alarm other thresholds, and leaves the rest as it is."""

import pytest

from local.replay.generator.corpus import generate
from local.replay.run import OURS, replay
from local.replay.sweep import SweepError, asked, rows


def test_a_range_is_ten_steps_and_a_list_is_what_it_says() -> None:
    assert asked("IdleAllocated.threshold=5..50").values == (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
    assert asked("IdleAllocated.threshold=20,1,5").values == (1, 5, 20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IdleAllocated", "write ALARM.threshold=FROM..TO"),
        ("IdleAlocated.threshold=1..5", "did you mean IdleAllocated?"),
        ("LowUtilization.threshold=1..5", "no alarm LowUtilization has a threshold"),
        ("IdleAllocated.threshold=5..1", "5..1 is no range"),
        ("IdleAllocated.threshold=1,,2", "1,,2 is no range"),
    ],
)
def test_what_cannot_be_swept_is_one_line(text: str, message: str) -> None:
    with pytest.raises(SweepError) as error:
        asked(text)

    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_threshold_that_nothing_reaches_pages_nobody_and_loses_everything() -> None:
    sweep = asked("IdleAllocated.threshold=0,5")
    scenario = generate("idle-01").model_copy(update={"minutes": 130})
    found = [replay(scenario, sweep.sets())]
    never, usual = rows(sweep.scores(found))

    assert "IdleAllocated" in {each.alarm for each in found[0].told[OURS]}
    assert (never["recall"], usual["recall"]) == (0, 1)
    assert (never["lost_usd"] or 0) > (usual["lost_usd"] or 0) > 0
