"""Environment files, generated: every pair of options that can stand in one file stands in one, as far as they go.

The same files every time: a file depends on its number, and on those before it.
"""

import copy
import itertools
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from tests.support.environment_options import ACCOUNT, FLEETS, REGION, Option
from tests.support.options_of_endpoints import OF_ENDPOINTS
from tests.support.options_of_environments import OF_ENVIRONMENT
from tests.support.options_of_fleets import OF_FLEETS

ZONES: Final = {f"{REGION}a": "use2-az1", f"{REGION}b": "use2-az2", f"{REGION}c": "use2-az3"}
# So many are drawn for each file, and the one with the most pairs that no file before it has is taken.
DRAWS: Final = 8
# Of three files two are meant to be sound; the third has one or two values that may be refused.
_ODD_EVERY: Final = 3
_SHARE: Final = 0.3
# What a part needs before a key of it can be said.
_PARTS: Final[dict[str, Any]] = {
    "budgets": {"monthly_usd": 3000},
    "prometheus": {"port": 9100},
    "maintenance": [{"name": "nightly", "reason": "a patch", "cron": "0 2 * * SUN", "minutes": 90}],
    "routes": [{"to": ["slack", "pagerduty"]}],
}
_STEP: Final = re.compile(r"[^.\[\]]+|\[\d+\]")


@cache
def files(count: int) -> list[tuple[str, dict[str, Any]]]:
    """The first ``count``: the name that each is to have, and what it says."""
    return list(itertools.islice(drawn(), count))


def drawn() -> Iterator[tuple[str, dict[str, Any]]]:
    """One after the other, for ever."""
    seen: set[tuple[int, int]] = set()
    kinds = list(FLEETS)
    for number in itertools.count():
        # No word of what is said depends on the machine: nothing here is of importance to security.
        draw = random.Random(number)  # noqa: S311
        of_kinds = [kinds[number % len(kinds)]]
        if number % 5 == 4:
            of_kinds.append(draw.choice(kinds))
        tries = [_choices(draw, of_kinds, is_odd=number % _ODD_EVERY == _ODD_EVERY - 1) for _ in range(DRAWS)]
        best = max(tries, key=lambda choices: len(_pairs(choices) - seen))
        seen |= _pairs(best)
        yield _written(of_kinds, best)


Choice = tuple[int, Option, Any]
"""The place of the fleet that it is of (-1: none), the option, and its value."""


def _choices(draw: random.Random, kinds: list[str], *, is_odd: bool) -> list[Choice]:
    open_to: list[tuple[int, Option]] = [(-1, option) for option in OF_ENVIRONMENT]
    for place, kind in enumerate(kinds):
        open_to += [(place, option) for option in (*OF_FLEETS, *OF_ENDPOINTS) if kind in option.kinds]
    taken = [each for each in open_to if draw.random() < _SHARE]
    odd = draw.sample(taken, k=min(len(taken), draw.choice((1, 1, 2)))) if is_odd else []
    chosen: list[Choice] = []
    for place, option in taken:
        values = option.odd if (place, option) in odd else option.sound
        if values:
            chosen.append((place, option, draw.choice(list(values))))
    return chosen


def _pairs(choices: list[Choice]) -> set[tuple[int, int]]:
    ids = sorted({id(option) for _, option, _ in choices})
    return {(one, other) for index, one in enumerate(ids) for other in ids[index:]}


def _written(kinds: list[str], choices: list[Choice]) -> tuple[str, dict[str, Any]]:
    fleets = [{"name": name, **copy.deepcopy(FLEETS[kind])} for name, kind in zip(("one", "two"), kinds, strict=False)]
    file: dict[str, Any] = {
        "name": "dev",
        "account": ACCOUNT,
        "region": REGION,
        "owner": "ml",
        "network": {"cidr": "10.20.0.0/16", "availability_zones": dict(ZONES)},
        "fleets": fleets,
        "paging": {"pagerduty_secret": "dev/pagerduty", "slack_secret": "dev/slack", "runbooks_url": "docs/runbooks"},
        "retain_data": False,
    }
    # Those that say a whole part come before those that say one key in it.
    for place, option, value in sorted(choices, key=lambda choice: len(_STEP.findall(choice[1].path))):
        _put(file if place < 0 else fleets[place], option.path, copy.deepcopy(value))
    for window in file.get("maintenance", ()):
        if window.get("fleets") == ["one"]:
            window["fleets"] = [fleets[0]["name"]]
    return str(file["name"]), file


def _put(tree: Any, path: str, value: Any) -> None:
    """Write ``value`` at ``path``; a part that is not there is made with what it needs."""
    *way, last = _STEP.findall(path)
    for step in way:
        if step.startswith("["):
            if len(tree) <= int(step[1:-1]):
                return
            tree = tree[int(step[1:-1])]
            continue
        if not isinstance(tree.get(step), dict | list):
            tree[step] = copy.deepcopy(_PARTS.get(step, {}))
        tree = tree[step]
    if isinstance(tree, dict):
        tree[last] = value
