"""What services allow: refused one beyond, allowed at the limit, and told by a code of its own."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from environments import loader
from environments.limit_rules import PARTS
from environments.model import Environment
from fleet import naming
from fleet.limits import LIMITS
from fleet.rollout.history import MOST_EVENTS, most_events
from fleet.rollout.plan import DEFAULT_STEPS, Plan
from tests.unit.environments.test_what_is_refused import PROD, answer, changed

ROLLOUT = "fleets.2.endpoint.rollout"


def codes(folder: Path, changes: dict[str, Any]) -> dict[str, str]:
    """The errors by their code, as lines."""
    return {found.code: str(found) for found in answer(folder, changed(PROD, changes)) if found.is_error}


def test_a_rollout_whose_execution_would_end_before_it_is_refused(tmp_path: Path) -> None:
    said = codes(tmp_path, {ROLLOUT: {"bake_minutes": 1440}})
    assert list(said) == ["rollout-outlives-its-execution"]
    assert "119,362 events" in said["rollout-outlives-its-execution"]
    assert "25,000" in said["rollout-outlives-its-execution"]


def test_it_is_told_how_far_apart_looks_would_have_to_be(tmp_path: Path) -> None:
    said = codes(tmp_path, {ROLLOUT: {"bake_minutes": 150}})
    assert "use look_seconds: 45" in said["rollout-outlives-its-execution"]
    assert codes(tmp_path, {ROLLOUT: {"bake_minutes": 150, "look_seconds": 45}}) == {}


def test_the_default_rollout_fits_with_room_for_looks_that_fail() -> None:
    assert most_events(Plan()) < 0.7 * MOST_EVENTS
    assert LIMITS["rollout-outlives-its-execution"].most > MOST_EVENTS


@given(st.integers(1, 1440), st.integers(1, 60), st.integers(1, 19))
def test_more_to_do_is_never_fewer_events(bake: int, look: int, steps: int) -> None:
    plan = Plan(bake_minutes=bake, look_seconds=look, steps=(*range(1, steps), 100))
    longer = Plan(bake_minutes=bake + 1, look_seconds=look, steps=(*range(1, steps), 100))
    assert most_events(plan) < most_events(longer)
    # What was counted by hand: a bake alone, look by look.
    assert most_events(plan) > len(plan.steps) * bake * 60 / look * 9


def test_the_count_by_hand_of_a_plan_that_is_short_in_all_but_its_bakes() -> None:
    plan = Plan(
        bake_minutes=60, traffic_minutes=30, artifact_minutes=10, ready_minutes=20, promotion_minutes=40,
        pause_hours=1, drain_seconds=120, look_seconds=30, steps=DEFAULT_STEPS,
    )  # fmt: skip
    bakes, others, pause = 4 * 90 * 2, 10 + 4 * 20 + 2 * 40 + 2, 60 / 4 * 2
    assert most_events(plan) == pytest.approx(9 * (bakes + others + pause))


def longest_owner(environment: str) -> int:
    return 100 - len(naming.budget_name(environment)) - 1


def test_the_name_of_an_owners_budget_fits_aws_budgets(tmp_path: Path) -> None:
    most = longest_owner("prod")
    assert codes(tmp_path, {"budgets.owners": {"o" * most: 1}}) == {}
    said = codes(tmp_path, {"budgets.owners": {"o" * (most + 1): 1}})
    assert list(said) == ["budget-name-too-long"]
    assert f"use {most} at most" in said["budget-name-too-long"]


@pytest.mark.parametrize("owners", [("a-b", "ab"), ("a:b", "a-b"), ("a b", "ab"), ("ü", "ö")])
def test_owners_that_would_be_one_budget_are_refused(tmp_path: Path, owners: tuple[str, str]) -> None:
    assert list(codes(tmp_path, {"budgets.owners": dict.fromkeys(owners, 1)})) == ["budget-owners-alike"]


def test_a_budget_that_aws_would_not_name_is_refused(tmp_path: Path) -> None:
    assert list(codes(tmp_path, {"budgets.owners": {"a/action/b": 1}})) == ["budget-name-refused"]


def test_windows_that_cloudformation_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    windows = [{"name": name, "reason": "r", "cron": "0 2 * * *", "minutes": 1} for name in ("a-b", "ab")]
    assert list(codes(tmp_path, {"maintenance": windows})) == ["maintenance-names-alike"]


@pytest.mark.parametrize("part", PARTS)
def test_a_fleet_that_is_called_as_a_part_of_another_is_refused(tmp_path: Path, part: str) -> None:
    name = PROD["fleets"][2]["name"]
    fleets = [PROD["fleets"][2], {**PROD["fleets"][2], "name": f"{name}-{part}"}]
    assert list(codes(tmp_path, {"fleets": fleets})) == ["fleet-named-as-a-part"]


def test_the_parts_are_those_that_the_stacks_name_beside_a_fleet() -> None:
    stacks = loader.FOLDER.parent / "stacks"
    beside = {
        part
        for file in stacks.glob("*.py")
        if "            fleet.name,\n" in (text := file.read_text(encoding="utf-8")) or "self, fleet.name," in text
        for part in re.findall(r'^ +f"\{fleet\.name\}-([a-z-]+)",$', text, re.MULTILINE)
    }
    assert beside == set(PARTS)


def test_an_address_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    mail = {"kind": "email", "name": "leads", "addresses": ["a@example.com", "a@example.com"]}
    changes = {"paging.destinations": [mail], "paging.routes": []}
    assert list(codes(tmp_path, changes)) == ["mail-address-twice"]


def test_a_plan_that_no_parameter_holds_is_refused(tmp_path: Path) -> None:
    alarms = [f"Alarm{number:03}" for number in range(200)]
    said = codes(tmp_path, {ROLLOUT: {"gates": {"alarms": alarms}}})
    assert list(said) == ["parameter-too-large"]


def test_each_limit_has_a_diagnostic_and_a_test_or_a_rule_elsewhere() -> None:
    rules = "".join(path.read_text(encoding="utf-8") for path in loader.FOLDER.glob("*.py"))
    assert [code for code in LIMITS if f'"{code}"' not in rules] == []


def test_what_is_at_the_limit_is_an_environment(tmp_path: Path) -> None:
    tree = changed(PROD, {"budgets.owners": {"o" * longest_owner("prod"): 1}})
    file = tmp_path / "prod.yaml"
    file.write_text(yaml.safe_dump(tree), encoding="utf-8")
    assert isinstance(loader.load_file(file), Environment)


def test_more_pools_than_their_controllers_role_has_room_for_are_refused(tmp_path: Path) -> None:
    staging = yaml.safe_load((loader.FOLDER / "staging.yaml").read_text(encoding="utf-8"))
    (pool,) = (fleet for fleet in staging["fleets"] if fleet.get("engine") == "pool")

    def said(pools: int) -> list[str]:
        fleets = [{**pool, "name": f"pool-{number}"} for number in range(pools)]
        (tmp_path / "staging.yaml").write_text(yaml.safe_dump({**staging, "fleets": fleets}), encoding="utf-8")
        return [found.code for found in loader.diagnose(tmp_path / "staging.yaml") if found.is_error]

    assert "role-policy-too-large" not in said(8)
    assert "role-policy-too-large" in said(9)
