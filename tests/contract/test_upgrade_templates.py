"""What an update of every released version to this tree does to what is deployed, by CloudFormation's own schemas."""

import re
from collections.abc import Iterable
from typing import Final

import pytest

from tests.support.templates import PROJECT_FOLDER
from tests.support.upgrade import assemblies, releases
from tests.support.upgrade.data import DATA, rewritten
from tests.support.upgrade.intrinsics import Templates
from tests.support.upgrade.obstacles import obstacles
from tests.support.upgrade.updates import losses, unprotected

PAGE: Final = PROJECT_FOLDER / "docs/upgrade.md"
pytestmark = pytest.mark.soak

EVERY: Final = [(version, name) for version in releases.RELEASES for name in assemblies.ENVIRONMENTS]


@pytest.fixture(params=EVERY, ids="-".join)
def update(request: pytest.FixtureRequest) -> tuple[str, str, Templates, Templates]:
    version, name = request.param
    releases.required(version)
    return version, name, assemblies.released(version, name), assemblies.present(name)


Update = tuple[str, str, Templates, Templates]


def section(version: str) -> str:
    """What the page says of going on from ``version``."""
    found = re.search(rf"^## From {re.escape(version)}\b.*?(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S)
    assert found, f"{PAGE.name} has no section '## From {version}'"
    return found[0]


def told(problems: Iterable[object]) -> None:
    """Fail with all of them, one on each line."""
    found = "\n".join(map(str, problems))
    assert not found, found


def alarms(templates: Templates) -> list[str]:
    return [
        body["Properties"]["AlarmName"]
        for template in templates.values()
        for body in template["Resources"].values()
        if body["Type"] in ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")
    ]


def test_nothing_that_holds_data_is_replaced_or_removed(update: Update) -> None:
    _, _, old, new = update
    told(f"{loss}; lost would be {DATA[loss.kind]}" for loss in losses(old, new) if loss.kind in DATA)


def test_what_is_kept_when_a_stack_goes_is_kept_still(update: Update) -> None:
    _, _, old, new = update
    told(unprotected(old, new))


def test_no_alarm_is_lost_that_the_page_does_not_name(update: Update) -> None:
    version, _, old, new = update
    lost = set(alarms(old)) - set(alarms(new))
    named = section(version)
    told(f"{name} is lost" for name in sorted(lost) if f"`{name.rpartition('/')[2]}`" not in named)


def test_what_else_is_replaced_or_removed_is_what_the_page_says(update: Update) -> None:
    version, _, old, new = update
    named = section(version)
    told(loss for loss in losses(old, new) if f"`{loss.kind}`" not in named)


@pytest.mark.parametrize("version", releases.RELEASES)
def test_the_page_names_nothing_that_stays(version: str) -> None:
    releases.required(version)
    lost = {
        loss.kind
        for name in assemblies.ENVIRONMENTS
        for loss in losses(assemblies.released(version, name), assemblies.present(name))
    }
    assert set(re.findall(r"^\| `(AWS::\w+::\w+)`", section(version), re.M)) == lost


def test_cloudformation_would_not_refuse_the_update(update: Update) -> None:
    _, _, old, new = update
    told(obstacles(old, new))


def test_going_back_to_the_released_version_loses_nothing_that_it_had(update: Update) -> None:
    _, _, old, new = update
    lost = [loss for loss in losses(new, old) if loss.kind in DATA]
    told(loss for loss in lost if loss.logical_id in old.get(loss.stack, {"Resources": {}})["Resources"])
    told(obstacles(new, old))


def test_what_a_rollout_has_set_is_not_set_back(update: Update) -> None:
    _, name, old, new = update
    told(rewritten(name, old, new))
