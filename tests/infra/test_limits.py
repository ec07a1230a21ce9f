"""Environments at the limits that `fleet validate` knows: their templates are within those of the services."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from environments import loader
from fleet.limits import LIMITS
from fleet.rollout.history import EVENTS_OF_A_LOOK
from stacks.constructs import precompile_machine
from stacks.constructs.rollout_machine import definition
from tests.support.environment_files import ZONES
from tests.support.environment_options import ACCOUNT, FLEETS, LONG, REGION, ROLE
from tests.support.service_limits import over_limits
from tests.support.synthesis import Synthesis, synthesized

# Step Functions developer guide, GetExecutionHistory: what each kind of state writes into an execution's history, when
# all goes well. A task is entered, scheduled, started, has succeeded and is left.
EVENTS = {"Task": 5, "Choice": 2, "Wait": 2}


def environment(folder: Path, fleets: list[dict[str, Any]], **more: Any) -> Path:
    content = {
        "name": LONG,
        "account": ACCOUNT,
        "region": REGION,
        "owner": "ml",
        "network": {"cidr": "10.0.0.0/16", "availability_zones": dict(ZONES)},
        "fleets": fleets,
        "paging": {"pagerduty_secret": "a", "slack_secret": "b", "runbooks_url": "docs"},
        "monitoring": {"endpoint_dashboards": True},
        **more,
    }
    file = folder / f"{LONG}.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return file


def at_the_bound(folder: Path, kind: str, **more: Any) -> Path:
    """As many fleets of ``kind``, of the longest names, as are not refused."""
    fleets: list[dict[str, Any]] = []
    while True:
        fleet = copy.deepcopy(FLEETS[kind]) | {"name": f"{LONG[:-2]}{len(fleets):02}", "nodes": 1}
        if kind == "scaled":
            fleet["nodes"] = 2
            fleet["endpoint"]["rollout"] = {"shadow": {}, "gates": {"alarms": [f"Alarm{n:02}" for n in range(60)]}}
        if any(found.is_error for found in loader.diagnose(environment(folder, [*fleets, fleet], **more))):
            assert len(fleets) > 5
            return environment(folder, fleets, **more)
        fleets.append(fleet)


def beyond(made: Synthesis) -> list[str]:
    assert made.refusal is None, made.findings
    return [line for name, template in made.templates.items() for line in over_limits(name, template)]


WINDOWS = [{"name": f"w{n}", "reason": "r" * 200, "cron": "0 2 * * SUN", "minutes": 60} for n in range(3)]


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("scaled", {"maintenance": WINDOWS}),
        ("block", {"approvers": [ROLE]}),
        pytest.param("reservation", {"maintenance": WINDOWS}, marks=pytest.mark.soak),
        pytest.param("pool", {}, marks=pytest.mark.soak),
        pytest.param("batch", {"maintenance": WINDOWS}, marks=pytest.mark.soak),
    ],
)
def test_as_many_fleets_as_are_allowed_fit_into_their_stacks(tmp_path: Path, kind: str, more: dict[str, Any]) -> None:
    assert beyond(synthesized(at_the_bound(tmp_path, kind, **more))) == []


def test_a_look_at_a_rollout_has_as_many_events_as_are_counted() -> None:
    states = definition("aws")["States"]
    loop, state = 0, "Look"
    while True:
        loop += EVENTS[states[state]["Type"]]
        state = states[state].get("Next") or states[state]["Default"]
        if state == "Look":
            break
    assert loop == EVENTS_OF_A_LOOK


def test_a_precompilation_that_waits_to_its_end_has_room_in_its_execution() -> None:
    looks = precompile_machine.LONGEST.to_seconds() / precompile_machine.LOOK_AGAIN.to_seconds()
    # A look there has the same states: what is asked, a choice, a wait.
    assert looks * EVENTS_OF_A_LOOK < 0.9 * LIMITS["rollout-outlives-its-execution"].most
