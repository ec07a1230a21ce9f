"""Limits are what AWS's own models and CloudFormation's schemas state, wherever these are named as the source."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import pytest
from botocore.loaders import Loader
from cfnlint.helpers import LIMITS as LINTED

from fleet.limits import LIMITS, NAMES, Limit
from local.emulator.resources.schemas import schema

EVERY: Final = {**LIMITS, **NAMES}
SHAPE: Final = re.compile(r"botocore [\d.]+, (\S+), shape (\w+), ")
TEXT: Final = re.compile(r"botocore [\d.]+, (\S+), text of (\w+)\.(\w+), ")
SCHEMA: Final = re.compile(r"cfn-lint [\d.]+, (AWS::\S+), property (\w+), ")
LINTER: Final = re.compile(r"cfn-lint [\d.]+, LIMITS, (\w+) (\w+), ")
# How the descriptions say it, each in its own words.
SAID: Final = re.compile(
    r"(?:be longer than|[Uu]p to|is limited to|maximum length is|name that you specify is"
    r"|Standard parameters have a value limit of) (\d+)( KB)?"
)
PAGE: Final = re.compile(r"[^,]+, https://docs\.aws\.amazon\.com/\S+, ")


@cache
def model(service: str) -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = Loader().load_service_model(service, "service-2")
    return loaded


def longest(rule: Mapping[str, Any], key: str) -> set[int]:
    """The maximum itself, or else the longest repetitions of the pattern."""
    return {rule[key]} if key in rule else {int(most) for most in re.findall(r"\{1,(\d+)\}", rule["pattern"])}


def described(service: str, operation: str, argument: str) -> set[int]:
    shape = model(service)["operations"][operation]["input"]["shape"]
    text = re.sub(r"<[^>]+>", "", model(service)["shapes"][shape]["members"][argument]["documentation"])
    return {int(most) * (1024 if kilobytes else 1) for most, kilobytes in SAID.findall(text)}


def stated(limit: Limit) -> set[int]:
    """What the source says; nothing where it cannot be read here."""
    source = limit.source
    if found := SHAPE.match(source):
        return longest(model(found[1])["shapes"][found[2]], "max")
    if found := TEXT.match(source):
        return described(*found.groups())
    if found := SCHEMA.match(source):
        return longest(schema(found[1], "us-east-1")["properties"][found[2]], "maxLength")
    if found := LINTER.match(source):
        return {LINTED[found[1]][found[2]]}
    return set()


WITNESSED: Final = [name for name, limit in EVERY.items() if not PAGE.match(limit.source)]


@pytest.mark.parametrize("name", WITNESSED)
def test_a_limit_is_what_its_source_states(name: str) -> None:
    assert stated(EVERY[name]) == {EVERY[name].most}, EVERY[name].source


def test_only_what_no_model_states_is_taken_from_a_page() -> None:
    assert set(EVERY) - set(WITNESSED) == {
        "rollout-outlives-its-execution", "capacity-block-engine-full", "paging-too-large",
    }  # fmt: skip
