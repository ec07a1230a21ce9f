"""The longest names that an environment's file may lead to, and where the limits were read."""

import inspect
import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from fleet import naming
from fleet.alarms import functions
from fleet.limits import LIMITS, NAMES, Limit

# As long as the patterns of names in a file allow: 31.
LONGEST: Final = "n" * 31
FUNCTIONS: Final = [each for name, each in vars(functions).items() if name.isupper() and isinstance(each, str)]
# What the code itself calls things by, the longest of each kind.
OURS: Final = {
    "stack": f"reservation-{LONGEST}",
    "audience": f"endpoint-{LONGEST}",
    "severity": "ticket",
    "alarm": "LowCoreUtilizationOfTheWholeFleet",
    "move": "scale-in",
    "function": max(FUNCTIONS, key=len),
    "instance_type": "trn1n.32xlarge",
    "account": "1" * 12,
    "region": "ap-southeast-99",
    "generation": 99,
}  # fmt: skip
# Nobody's name: they are parts of one, or have diagnostics of their own.
NO_NAMES: Final = {
    "split_alarm_name", "endpoint_audience", "share_identifier", "budget_name", "hosted_endpoint",
}  # fmt: skip


def composed() -> dict[str, Callable[..., str]]:
    found = dict(inspect.getmembers(naming, inspect.isfunction))
    return {name: made for name, made in found.items() if name not in NO_NAMES and not name.endswith("_parameter")}


def longest(made: Callable[..., Any]) -> str:
    if made is naming.parameter_path:
        # Systems Manager counts what comes before the name in the ARN, too.
        arn = f"arn:aws-us-gov:ssm:{OURS['region']}:{OURS['account']}:parameter"
        return arn + naming.parameter_path(LONGEST, "declared-model", LONGEST, "99")
    given = {name: OURS.get(name, LONGEST) for name in inspect.signature(made).parameters}
    return str(made(**given))


def test_each_name_that_is_composed_has_a_limit() -> None:
    assert set(NAMES) == set(composed())


@pytest.mark.parametrize("name", NAMES)
def test_the_longest_name_that_a_file_may_lead_to_fits(name: str) -> None:
    found = longest(composed()[name])
    assert LONGEST in found or name == "ledger_database"
    assert len(found) <= NAMES[name].most, found


@pytest.mark.parametrize("limit", [*LIMITS.values(), *NAMES.values()])
def test_a_limit_says_where_it_was_read_and_when(limit: Limit) -> None:
    assert re.search(r", 20\d\d-\d\d$", limit.source)
    assert limit.most > 0
