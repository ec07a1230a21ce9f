"""The generated corpus: how many scenarios of which kind, and how one is made of its name and a seed.

A name is a kind and a number. Everything in a scenario is drawn by one generator that is seeded with both, so the same
seed gives the same bytes on every machine, and a scenario does not change when others are added.
"""

import hashlib
import random
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

import yaml

from local.replay.generator.kinds import KINDS
from local.replay.generator.labels import may_be_asked
from local.replay.generator.site import Site
from local.replay.generator.surroundings import quiet_hours
from local.replay.scenario import Scenario
from local.replay.tells import TELLS

SEED: Final = 16
_TEST_SHARE: Final = 128
"""Of 256."""


class Half(StrEnum):
    """The two sets: one to develop on, one whose figure is looked at and nothing else."""

    DEVELOPMENT = "development"
    TEST = "test"


def half_of(name: str) -> Half:
    """Which set a scenario belongs to, by a hash of its name."""
    first = hashlib.sha256(name.encode()).digest()[0]
    return Half.TEST if first < _TEST_SHARE else Half.DEVELOPMENT


def names() -> list[str]:
    """Every scenario of the corpus."""
    return [f"{kind}-{number:02}" for kind, (count, _) in KINDS.items() for number in range(1, count + 1)]


def generate(name: str, seed: int = SEED) -> Scenario:
    """The scenario called ``name``.

    Raises:
        KeyError: No kind is called so.
    """
    kind = name.rpartition("-")[0]
    rng = random.Random(f"{seed}/{name}")  # noqa: S311 - a scenario, not a secret
    site = KINDS[kind][1](rng)
    for placed in site.jobs:
        may_be_asked(site, placed)
    if site.purpose == "inference":
        quiet_hours(site, site.jobs[0])
    return Scenario.model_validate(
        {
            "name": name,
            "title": _title(site, kind),
            "minutes": site.minutes,
            "seed": rng.randrange(1, 10**6),
            "fleets": {site.name: site.fleet()},
            "outages": site.outages,
            "changes": site.changes,
            "maintenance": site.maintenance,
            "incidents": site.incidents,
        }
    )


def generated(half: Half | None = None, seed: int = SEED) -> Iterator[Scenario]:
    """The scenarios of one set, or of both."""
    return (generate(name, seed) for name in names() if half in {None, half_of(name)})


def as_yaml(scenario: Scenario) -> str:
    """The scenario as a file: what is as it always is, is left out."""
    said: dict[str, Any] = scenario.model_dump(mode="json", exclude_defaults=True)
    for incident in said.get("incidents", ()):
        # Who tells of it is this project's business, and follows from its kind.
        if tuple(incident["alarms"]) == TELLS[incident["kind"]].alarms:
            incident.pop("also", None)
            del incident["alarms"]
    return yaml.safe_dump(said, sort_keys=False, width=120, default_flow_style=None, allow_unicode=True)


def _title(site: Site, kind: str) -> str:
    count = "1 node" if site.nodes == 1 else f"{site.nodes} nodes"
    return f"{kind.replace('-', ' ').capitalize()}: {count} {site.machine.instance_type}, {site.machine.market.value}"
