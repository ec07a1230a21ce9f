"""What must hold of the ``paging`` of an environment file beyond the shape of each value."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

from environments.model import Environment
from environments.paging import Email, Paging
from fleet import naming
from fleet.diagnostics import Diagnostic, did_you_mean, refuse, warn
from fleet.paging import Kind, content

# Lambda's limit for a function's variables is 4 KB, and the pager is told other things too.
BYTES_OF_A_DIRECTORY: Final = 2800


def diagnose_paging(environment: Environment) -> Iterator[Diagnostic]:
    """Names that are there twice or not at all, routes that lead nothing, and more than the pager can be told."""
    paging = environment.paging
    yield from _names_differ(paging)
    yield from _addresses_differ(paging)
    yield from _routes_end_somewhere(paging)
    yield from _routes_are_reached(paging)
    yield from _owners_are_known(environment)
    topics = {
        name: f"arn:aws:sns:{'r' * 14}:{'1' * 12}:{naming.mail_topic(environment.name, name)}" for name in paging.mail
    }
    size = len(json.dumps(content(paging.directory(topics))).encode())
    if size > BYTES_OF_A_DIRECTORY:
        wrong = f"destinations and routes take {size} bytes of the {BYTES_OF_A_DIRECTORY} that the pager can be told"
        yield refuse("paging-too-large", "paging", str(size), wrong, "shorten names, or merge routes")


def _names_differ(paging: Paging) -> Iterator[Diagnostic]:
    for name, times in Counter(paging.names).items():
        if times > 1:
            wrong = f"{times} destinations are called {name}"
            fix = "pagerduty and slack are taken by the two secrets; give each other one its own name"
            yield refuse("destination-name-twice", "paging.destinations", name, wrong, fix)


def _addresses_differ(paging: Paging) -> Iterator[Diagnostic]:
    # A topic takes an address once.
    for index, each in enumerate(paging.destinations):
        if isinstance(each, Email):
            for address, times in Counter(each.addresses).items():
                if times > 1:
                    where = f"paging.destinations[{index}].addresses"
                    yield refuse(
                        "mail-address-twice", where, address, f"{address} is there {times} times", "name it once"
                    )


def _routes_end_somewhere(paging: Paging) -> Iterator[Diagnostic]:
    known = sorted(set(paging.names))
    for index, route in enumerate(paging.routes):
        for name in route.to:
            if name not in known:
                fix = did_you_mean(name, known)
                where = f"paging.routes[{index}].to"
                yield refuse("unknown-destination", where, name, f"there is no destination {name!r}", fix)


def _routes_are_reached(paging: Paging) -> Iterator[Diagnostic]:
    for index, route in enumerate(paging.routes):
        before = (
            earlier
            for earlier, other in enumerate(paging.routes[:index])
            if other.severity in (None, route.severity) and other.owner in (None, route.owner)
        )
        if (earlier := next(before, None)) is not None:
            where = f"paging.routes[{index}]"
            wrong = f"routes[{earlier}] leads everything that this route is for"
            yield refuse("route-never-reached", where, "", wrong, f"put it before routes[{earlier}], or delete it")
        wakes = {each.name for each in paging.destinations if each.kind != Kind.SLACK.value} | {Kind.PAGERDUTY.value}
        if route.severity != "ticket" and not wakes & set(route.to):
            wrong = "pages of this route go to chat only, and wake nobody"
            yield warn("route-wakes-nobody", f"paging.routes[{index}].to", "", wrong, "add a pagerduty destination")


def _owners_are_known(environment: Environment) -> Iterator[Diagnostic]:
    fleets = {fleet.owner for fleet in environment.fleets}
    shares = {owner for fleet in environment.fleets for owner in getattr(fleet, "shares", {})}
    for index, route in enumerate(environment.paging.routes):
        if route.owner is not None and route.owner not in fleets | shares:
            wrong = f"no fleet and no share is of {route.owner!r}"
            fix = "leave it where jobs name this owner; else use the owner of a fleet"
            yield warn("unknown-owner", f"paging.routes[{index}].owner", route.owner, wrong, fix)
