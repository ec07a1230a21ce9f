"""The generated corpus: large enough, the same everywhere, split once, and labelled by what was put in."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from fleet.alarms import Severity
from local.replay.generator.corpus import Half, as_yaml, generate, generated, half_of
from local.replay.generator.kinds import KINDS
from local.replay.generator.labels import CARES_USD_PER_HOUR, HANDS_ON_MINUTES, PAUSE_USD
from local.replay.generator.site import PAGE_USD_PER_HOUR
from local.replay.run import OURS, SETS, replay
from local.replay.scenario import Incident, Scenario, load
from local.replay.score import score
from local.replay.tells import TELLS

ALL = {scenario.name: scenario for scenario in generated()}
WANTED = [(scenario, each) for scenario in ALL.values() for each in scenario.incidents if not each.optional]
BURNING = {"idle", "hang", "waste", "crash-loop", "loss"}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def test_it_is_large_and_half_of_it_is_kept_apart() -> None:
    hours = sum(scenario.node_hours for scenario in ALL.values())

    assert (len(ALL) >= 200, hours >= 5000) == (True, True)
    assert Counter(half_of(name) for name in ALL) == {Half.DEVELOPMENT: 113, Half.TEST: 145}
    assert digest("".join(each for each in ALL if half_of(each) is Half.TEST)) == "3f274c92438a"


def test_every_kind_of_day_and_of_incident_is_in_both_sets() -> None:
    by_half = {half: {name.rpartition("-")[0] for name in ALL if half_of(name) is half} for half in Half}

    assert by_half[Half.DEVELOPMENT] == by_half[Half.TEST] == set(KINDS)
    assert {each.kind for _, each in WANTED} >= set(TELLS) - {"spool"}


def test_the_same_seed_gives_the_same_bytes_and_another_one_gives_others() -> None:
    drawn = [scenario.model_dump(mode="json", exclude_defaults=True) for scenario in generated()]
    text = json.dumps(drawn, sort_keys=True)

    assert digest(text) == "a1787a5e4726"
    assert as_yaml(generate("hang-01")) == as_yaml(ALL["hang-01"]) != as_yaml(generate("hang-01", seed=17))


@pytest.mark.parametrize("name", list(KINDS))
def test_what_is_written_as_a_file_is_read_as_the_same_scenario(tmp_path: Path, name: str) -> None:
    scenario = ALL[f"{name}-01"]
    file = tmp_path / "scenario.yaml"
    file.write_text(as_yaml(scenario))

    assert load(file) == scenario


def test_nobody_is_to_be_woken_for_little_money() -> None:
    cheap = [
        (scenario.name, each.usd_per_hour)
        for scenario, each in WANTED
        if each.kind in BURNING and (each.usd_per_hour or 0) < PAGE_USD_PER_HOUR
    ]
    woken = [
        scenario.name
        for scenario in ALL.values()
        for each in scenario.incidents
        if each.kind in BURNING
        and each.severity is Severity.PAGE
        and each.usd_per_hour
        and each.usd_per_hour < CARES_USD_PER_HOUR
    ]

    assert (cheap, woken) == ([], [])


def pauses(scenario: Scenario) -> list[Incident]:
    return [each for each in scenario.incidents if each.optional and each.kind == "idle" and not each.usd_per_hour]


def test_a_pause_may_be_asked_about_where_it_is_long_and_dear_and_nobody_announced_it() -> None:
    found = [(scenario, each) for scenario in ALL.values() for each in pauses(scenario)]
    announced = [
        each
        for scenario, each in found
        for job in scenario.fleets["fleet"].jobs
        if job.id == each.job
        for phase in job.phases
        if phase.at == each.at and phase.announces
    ]

    assert found
    assert announced == []
    assert all(each.until - each.at > HANDS_ON_MINUTES for _, each in found)
    assert PAUSE_USD > 0


def test_a_day_that_is_well_wants_nobody_to_be_told_of_anything() -> None:
    assert [scenario.name for scenario, _ in WANTED if scenario.name.startswith("day-")] == []


def test_durations_reach_well_past_the_alarms_own_bars() -> None:
    phases = [
        (kind, later.at - phase.at)
        for scenario in ALL.values()
        for job in scenario.fleets["fleet"].jobs
        for phase, later in zip(job.phases, job.phases[1:], strict=False)
        if (kind := phase.kind.value)
    ]
    longest = {kind: max(minutes for each, minutes in phases if each == kind) for kind in ("checkpoint", "host_work")}

    # The bars stand at 15, 5 and 90 minutes.
    assert longest["checkpoint"] >= 30
    assert longest["host_work"] > 30
    assert max(minutes for kind, minutes in phases if kind in {"compiling", "waiting"}) > 150
    assert len([minutes for kind, minutes in phases if kind == "checkpoint" and minutes > 15]) > 20


SMALL = ["hardware-05", "endpoint-sick-01"]


@pytest.mark.parametrize("name", SMALL)
def test_what_is_plain_is_told_in_time(name: str) -> None:
    assert half_of(name) is Half.DEVELOPMENT
    found = score([replay(ALL[name], {OURS: SETS[OURS]})], OURS).of(Severity.PAGE)

    assert found.recall == 1
    assert (found.lost_usd or 0) < (found.at_stake_usd or 0)
