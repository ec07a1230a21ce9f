"""The interval between checkpoints, against the figures that its author published."""

import pytest

from fleet.checkpoints.schedule import Schedule, daly_seconds, lost_share, of_job, young_seconds


@pytest.mark.parametrize(
    ("mean_minutes", "published_minutes"),
    # Daly 2006, figures 3 to 5: dumps of 5 minutes.
    [(24 * 60, 117.0), (6 * 60, 57.0), (15, 9.1)],
)
def test_the_estimate_is_the_published_one(mean_minutes: float, published_minutes: float) -> None:
    assert daly_seconds(300, mean_minutes * 60) / 60 == pytest.approx(published_minutes, rel=0.006)


def test_the_first_order_is_the_root_of_twice_the_product() -> None:
    # sqrt(2 x 300 s x 86,400 s) = sqrt(51,840,000) = 7,200 s
    assert young_seconds(300, 86_400) == 7_200


def test_a_save_that_takes_longer_than_the_job_lasts_is_made_after_the_mean() -> None:
    assert daly_seconds(2_000, 1_000) == 1_000
    assert daly_seconds(5_000, 1_000) == 1_000


def test_no_other_interval_loses_much_less_than_the_estimate() -> None:
    for save, mean in ((10.0, 3_600.0), (60.0, 86_400.0), (300.0, 21_600.0)):
        best = lost_share(daly_seconds(save, mean), save, mean)
        assert all(lost_share(seconds, save, mean) > best - 0.001 for seconds in range(30, 20_000, 30))


def test_more_nodes_are_interrupted_more_often() -> None:
    # One node in 30 days; 64 nodes every 11.25 hours.
    assert of_job(30 * 86_400, 64) == 11.25 * 3_600


@pytest.mark.parametrize("figures", [(0, 1), (1, 0), (-1, 1), (1, float("inf")), (float("nan"), 1)])
def test_figures_that_are_none_are_refused(figures: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="is not a positive, finite number"):
        daly_seconds(*figures)


def test_whole_steps_are_known_to_every_rank_and_the_first_is_not_saved() -> None:
    assert [step for step in range(9) if Schedule(every_steps=4).is_step(step)] == [4, 8]
    assert not Schedule().is_step(4)


def test_time_decides_by_the_cost_of_a_save_once_that_is_known() -> None:
    schedule = Schedule(mean_seconds_between_interruptions=86_400, longest_seconds=3_600)
    # Before the first save only the longest time decides.
    assert not schedule.is_due(3_599, None)
    assert schedule.is_due(3_600, None)
    # sqrt(2 x 10 x 86,400) = 1,314.5; ratio 10 / 172,800 = 5.787e-5: x (1 + 0.0025357 + 0.0000064) = 1,317.9; - 10
    assert schedule.interval_seconds(10) == pytest.approx(1_307.9, abs=0.1)
    # A save of 5 minutes: 117 minutes, and the longest is an hour.
    assert schedule.interval_seconds(300) == 3_600


def test_without_a_time_only_steps_and_people_decide() -> None:
    assert not Schedule(every_steps=10).is_due(1e9, 1.0)
    assert Schedule(mean_seconds_between_interruptions=100.0).is_due(0.0, None)


def test_a_schedule_that_is_none_is_refused() -> None:
    for wrong in ({"every_steps": 0}, {"longest_seconds": -1.0}, {"mean_seconds_between_interruptions": 0.0}):
        with pytest.raises(ValueError, match="use a positive number, or leave it out"):
            Schedule(**wrong)
