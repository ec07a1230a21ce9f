"""What counts as a hit, as a miss and as a false page."""

from dataclasses import replace

import pytest

from fleet.alarms import Severity
from local.replay.run import FOLLOWED, OURS, Replay
from local.replay.scenario import Scenario
from local.replay.score import Score, score
from local.replay.told import Told


def page(alarm: str, minute: float, fleet: str = "a", severity: Severity = Severity.PAGE) -> Told:
    return Told(fleet, alarm, severity, minute)


def judged(*told: Told, alarm_set: str = OURS, **changes: object) -> Score:
    incident = {
        "fleet": "a",
        "kind": "hang",
        "alarms": ["JobHang"],
        "also": ["NodeBlind"],
        "at": 60,
        "by": 72,
        "until": 90,
    }
    scenario = Scenario.model_validate(
        {
            "name": "s",
            "title": "s",
            "minutes": 120,
            "fleets": {name: {"instance_type": "trn1.2xlarge", "nodes": 1} for name in "ab"},
            "incidents": [{**incident, **changes}],
        }
    )
    return score([Replay(scenario, {alarm_set: told}, ())], alarm_set)


def figures(found: Score) -> tuple[float | None, float | None]:
    return found.recall, found.precision


def test_in_time_is_a_hit() -> None:
    found = judged(page("JobHang", 70.2))

    assert figures(found) == (1, 1)
    assert found.minutes("hang") == pytest.approx(10.2)


def test_too_late_is_a_miss_and_yet_not_false() -> None:
    assert figures(judged(page("JobHang", 80.2))) == (0, 1)


@pytest.mark.parametrize(
    "told",
    [page("JobHang", 59.2), page("JobHang", 96.2), page("LowUtilization", 70.2), page("JobHang", 70.2, fleet="b")],
)
def test_before_after_elsewhere_or_of_something_else_is_false(told: Told) -> None:
    assert figures(judged(told)) == (0, 0)


def test_the_second_page_of_an_alarm_for_one_incident_is_false() -> None:
    assert figures(judged(page("JobHang", 70.2), page("JobHang", 80.2))) == (1, 0.5)


def test_what_may_come_along_is_not_false_and_is_no_hit() -> None:
    assert figures(judged(page("NodeBlind", 65.2, severity=Severity.TICKET))) == (0, 1)


def test_silence_has_no_precision() -> None:
    assert figures(judged()) == (0, None)


def test_any_page_of_a_baseline_counts_while_an_incident_goes_on() -> None:
    assert figures(judged(page("GpuUnderutilized", 70.2), alarm_set="dcgm-style")) == (1, 1)
    assert figures(judged(page("GpuUnderutilized", 30.2), alarm_set="dcgm-style")) == (0, 0)


def test_what_need_not_be_told_is_neither_missed_nor_false() -> None:
    assert figures(judged(optional=True)) == (None, None)
    assert figures(judged(page("JobHang", 70.2), optional=True)) == (None, 1)


def test_a_page_for_what_need_not_even_be_a_ticket_is_false() -> None:
    assert judged(page("JobHang", 70.2), optional=True, severity="ticket").precision == 0
    found = judged(page("JobHang", 70.2, severity=Severity.TICKET), optional=True, severity="ticket")
    assert found.precision == 1


def test_dollars_burn_until_the_page_and_to_the_end_where_nobody_is_told() -> None:
    assert judged(page("JobHang", 75), usd_per_hour=40).lost_usd == pytest.approx(10)
    assert judged(usd_per_hour=40).lost_usd == judged(usd_per_hour=40).at_stake_usd == pytest.approx(20)
    # Too late for the label, and yet the burning ends.
    assert judged(page("JobHang", 81), usd_per_hour=40).lost_usd == pytest.approx(14)
    assert judged(page("JobHang", 75)).lost_usd is None


def test_who_tells_of_a_kind_is_known_where_a_label_does_not_say() -> None:
    assert figures(judged(page("HardwareFault", 61), kind="hardware", alarms=[], also=[])) == (1, 1)
    assert figures(judged(page("JobHang", 61), kind="hardware", alarms=[], also=[])) == (0, 1)


def test_a_page_that_names_another_job_or_node_tells_nothing_of_the_incident() -> None:
    def of(**labels: str) -> Told:
        return replace(page("JobHang", 65), contributors=(tuple(labels.items()),))

    assert figures(judged(of(job="mine"), job="mine")) == (1.0, 1.0)
    assert figures(judged(of(job="other"), job="mine")) == (0.0, 0.0)
    assert figures(judged(of(node="a-3"), nodes=[3, 4])) == (1.0, 1.0)
    assert figures(judged(of(node="a-5"), nodes=[3, 4])) == (0.0, 0.0)
    # Whoever does not say is believed, as the classic alarms are.
    assert figures(judged(of(node="a-5"), job="mine")) == (1.0, 1.0)
    assert figures(judged(page("JobHang", 65), job="mine", nodes=[3])) == (1.0, 1.0)


def two_at_once(*contributors: dict[str, str]) -> Score:
    """Job ``left`` has nodes 0 and 1, job ``right`` node 2; both hang, and one page tells of each contributor."""
    incident = {"fleet": "a", "kind": "hang", "alarms": ["JobHang"], "at": 60, "by": 72, "until": 90}
    scenario = Scenario.model_validate(
        {
            "name": "s",
            "title": "s",
            "minutes": 120,
            "fleets": {
                "a": {
                    "instance_type": "trn1.2xlarge",
                    "nodes": 3,
                    "jobs": [
                        {"id": name, "nodes": nodes, "phases": [{"at": 0, "kind": "hang"}]}
                        for name, nodes in (("left", [0, 1]), ("right", [2]))
                    ],
                }
            },
            "incidents": [{**incident, "job": "left"}, {**incident, "nodes": [2]}],
        }
    )
    told = tuple(
        replace(page("JobHang", 65 + at), contributors=(tuple(labels.items()),))
        for at, labels in enumerate(contributors)
    )
    return score([Replay(scenario, {FOLLOWED: told}, ())], FOLLOWED)


@pytest.mark.parametrize("left", [{"job": "left"}, {"node": "a-1"}])
@pytest.mark.parametrize("right", [{"job": "right"}, {"node": "a-2"}])
def test_two_incidents_of_a_kind_at_once_have_to_be_told_each(left: dict[str, str], right: dict[str, str]) -> None:
    assert figures(two_at_once(left, right)) == figures(two_at_once(right, left)) == (1, 1)
    assert figures(two_at_once(left)) == figures(two_at_once(right)) == (0.5, 1)
    # One page too many of the one is not the page of the other.
    assert figures(two_at_once(left, left)) == (0.5, 0.5)


def test_an_alarm_of_the_whole_fleet_tells_of_all_that_goes_on_in_it() -> None:
    assert two_at_once({}).recall == 1


def test_a_node_of_the_job_is_not_enough_where_the_label_names_another_of_its_nodes() -> None:
    def of(**labels: str) -> Told:
        return replace(page("JobHang", 65), contributors=(tuple(labels.items()),))

    assert figures(judged(of(job="mine", node="a-3"), job="mine", nodes=[3])) == (1, 1)
    assert figures(judged(of(job="mine", node="a-4"), job="mine", nodes=[3])) == (0, 0)
