"""The kinds of generated scenarios, how many there are of each, and how one is put together."""

import random
from collections.abc import Callable, Mapping
from typing import Final

from local.replay.generator import figures
from local.replay.generator.day import FREE, Day
from local.replay.generator.days import DAYS, notebook, serving
from local.replay.generator.incidents import OF_A_JOB
from local.replay.generator.machines import CHEAP, DEAR, SERVING, SPOT, TRAINING, Machine, drawn
from local.replay.generator.site import Placed, Site
from local.replay.generator.surroundings import (
    AROUND,
    OF_A_FLEET,
    OF_AN_ENDPOINT,
    answers,
    maintenance,
    replacement,
)

_WELL: Final = 9
"""How many scenarios there are of each kind of day that is well."""
_ILL: Final = 7
"""And of each kind of incident."""
# Of what may happen beside any day, how often it does.
_AROUND: Final = 0.25
_TWO_JOBS: Final = 0.4
# Incidents of two at a time: one of each of two jobs, the second while the first one lasts.
_TWICE: Final = ("hang", "idle", "waste")


def _site(rng: random.Random, machines: tuple[Machine, ...], least: int = 1, hours: float | None = None) -> Site:
    machine, nodes = drawn(rng, machines, least)
    minutes = round(60 * (hours or figures.HOURS.draw(rng)))
    return Site(rng, "fleet", machine, nodes, minutes, figures.TARGET.draw(rng))


def _some_day(rng: random.Random, target: float) -> Day:
    return DAYS[rng.choice(list(DAYS))](rng, target)


def _jobs(site: Site, day: Day, least: int = 1, *, two: bool | None = None) -> Placed:
    """The job that it is about, which has at least so many nodes, and perhaps another one on nodes of its own."""
    share = max(1, round(site.nodes * figures.SMALL_SHARE.draw(site.rng)))
    has_two = site.rng.random() < _TWO_JOBS if two is None else two
    if not has_two or site.nodes - share < least:
        return site.place("first", tuple(range(site.nodes)), day)
    first = site.place("first", tuple(range(site.nodes - share)), day)
    site.place("second", tuple(range(site.nodes - share, site.nodes)), _some_day(site.rng, site.target))
    return first


def _play(site: Site, disturbed: Mapping[str, tuple[int, Callable[[Placed], None]]]) -> Site:
    """Let every job live its day, with what disturbs it at the minute where it begins."""
    for placed in site.jobs:
        if placed.id not in disturbed:
            placed.day.play(placed.track, site.minutes)
            continue
        at, disturb = disturbed[placed.id]
        placed.day.play(placed.track, at)
        placed.track.until = site.minutes
        # What goes wrong goes wrong with a job that works.
        placed.track.add(placed.day.works, site.rng.uniform(5, 20))
        worked_until = placed.track.now
        disturb(placed)
        was_stopped = placed.track.now > worked_until
        if was_stopped:
            placed.track.add(FREE, figures.BACKOFF.draw(site.rng))
        placed.day.play(placed.track, site.minutes, again=was_stopped)
    return site


def _around(site: Site) -> Site:
    for happens in AROUND.values():
        if site.rng.random() < _AROUND:
            happens(site)
    return site


def _well(kind: str) -> Callable[[random.Random], Site]:
    def make(rng: random.Random) -> Site:
        site = _site(rng, TRAINING, least=2 if kind == "compiling" else 1)
        _jobs(site, DAYS[kind](rng, site.target))
        return _around(_play(site, {}))

    return make


def _notebooks(rng: random.Random) -> Site:
    site = _site(rng, CHEAP)
    for node in range(site.nodes):
        site.place(f"notebook-{node}", (node,), notebook(rng, site.target))
    return _around(_play(site, {}))


def _served(rng: random.Random) -> Site:
    site = _site(rng, SERVING)
    site.purpose = "inference"
    site.place("endpoint", tuple(range(site.nodes)), serving(rng, site.target))
    answers(site)
    return site


def _at(site: Site) -> int:
    return max(20, round(site.minutes * figures.AT.draw(site.rng)))


def _disturbed_day(happens: Callable[[Site], None], machines: tuple[Machine, ...]) -> Callable[[random.Random], Site]:
    def make(rng: random.Random) -> Site:
        site = _site(rng, machines)
        site.place("first", tuple(range(site.nodes)), _some_day(rng, site.target))
        return _play(site, {"first": (_at(site), lambda _: happens(site))})

    return make


def _ill(kind: str) -> Callable[[random.Random], Site]:
    least = {"straggler": 3, "node-lost": 2, "second-fault": 2, "endless-compilation": 2}.get(kind, 1)
    long = {"ended": figures.UNUSED, "endless-compilation": figures.UNUSED}.get(kind)

    def make(rng: random.Random) -> Site:
        hours = 2 + long.draw(rng) / 60 if long else None
        site = _site(rng, TRAINING, least, hours)
        first = _jobs(site, _some_day(rng, site.target), least)
        incident = {**OF_A_JOB, **OF_A_FLEET}[kind]
        at = 60 + rng.randrange(60) if long else _at(site)
        return _around(_play(site, {first.id: (at, lambda placed: incident(site, placed))}))

    return make


def _twice(kind: str) -> Callable[[random.Random], Site]:
    def make(rng: random.Random) -> Site:
        site = _site(rng, DEAR, least=2)
        _jobs(site, _some_day(rng, site.target), two=True)
        first = _at(site)
        second = min(first + figures.LATER.whole(rng), site.minutes - 60)
        incident = OF_A_JOB[kind]
        play = {"first": (first, lambda placed: incident(site, placed))}
        return _play(site, {**play, "second": (second, lambda placed: incident(site, placed))})

    return make


def _endpoint(kind: str) -> Callable[[random.Random], Site]:
    def make(rng: random.Random) -> Site:
        site = _served(rng)
        return _play(site, {"endpoint": (_at(site), lambda placed: OF_AN_ENDPOINT[kind](site, placed))})

    return make


KINDS: Final[Mapping[str, tuple[int, Callable[[random.Random], Site]]]] = {
    **{f"day-{kind}": (_WELL, _well(kind)) for kind in DAYS},
    "day-notebooks": (_WELL, _notebooks),
    "day-serving": (_WELL, lambda rng: _around(_play(_served(rng), {}))),
    "day-maintenance": (_WELL, _disturbed_day(maintenance, TRAINING)),
    "day-replacement": (_WELL, _disturbed_day(replacement, (*DEAR, *SPOT))),
    **{kind: (_ILL, _ill(kind)) for kind in (*OF_A_JOB, *OF_A_FLEET)},
    **{f"{kind}-twice": (_ILL, _twice(kind)) for kind in _TWICE},
    **{kind: (_ILL // 2, _endpoint(kind)) for kind in OF_AN_ENDPOINT},
}
