"""Who hears of an alarm: destinations by name, and the routes that lead to them by severity and owner."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fleet.string_enum import StringEnum


class Kind(StringEnum):
    """What a destination speaks."""

    PAGERDUTY = "pagerduty"
    SLACK = "slack"
    WEBHOOK = "webhook"
    EMAIL = "email"


# Something there stays open until it is told that it is over; a message in the others is read and done with.
STAYS_OPEN: Final = frozenset({Kind.PAGERDUTY, Kind.WEBHOOK})
PAGERDUTY: Final = "pagerduty"
SLACK: Final = "slack"


@dataclass(frozen=True, slots=True)
class Destination:
    """``address`` is the name of a secret; of e-mail, the ARN of a topic."""

    kind: Kind
    address: str


@dataclass(frozen=True, slots=True)
class Route:
    """Alarms of this severity and owner go ``to`` these destinations; None stands for any."""

    to: tuple[str, ...]
    severity: str | None = None
    owner: str | None = None

    def is_for(self, severity: str, owner: str | None) -> bool:
        """Whether the route leads an alarm."""
        return self.severity in (None, severity) and self.owner in (None, owner)


# Of so many nodes a log query returns every event of twenty minutes; a larger fleet is summed up by the query.
SMALL_FLEET: Final = 100
DEFAULT_ROUTES: Final = (Route((PAGERDUTY, SLACK), severity="page"), Route((SLACK,)))


@dataclass(frozen=True, slots=True)
class Directory:
    """Destinations by name, and the routes, of which the first that is for an alarm leads it."""

    destinations: Mapping[str, Destination]
    routes: Sequence[Route] = DEFAULT_ROUTES

    def chosen(self, severity: str, owners: Iterable[str]) -> tuple[str, ...]:
        """Who hears of an alarm of ``severity`` that these owners' work is the cause of; nobody known counts too."""
        led = [self._route(severity, owner) for owner in tuple(owners) or (None,)]
        return tuple(dict.fromkeys(name for route in led for name in route.to))

    def possible(self, severity: str) -> tuple[str, ...]:
        """Who may have heard of an alarm of ``severity``, whoever's work was its cause."""
        routes = (route for route in (*self.routes, *DEFAULT_ROUTES) if route.severity in (None, severity))
        return tuple(dict.fromkeys(name for route in routes for name in route.to))

    def _route(self, severity: str, owner: str | None) -> Route:
        return next(route for route in (*self.routes, *DEFAULT_ROUTES) if route.is_for(severity, owner))


def content(directory: Directory) -> dict[str, Any]:
    """The directory as JSON's types, for ``directory_of``. No null: the CDK's JSON drops it from lists."""
    return {
        "destinations": {name: [each.kind.value, each.address] for name, each in directory.destinations.items()},
        "routes": [[list(route.to), route.severity or "", route.owner or ""] for route in directory.routes],
    }


def directory_of(written: Mapping[str, Any]) -> Directory:
    """What ``content`` wrote; raises KeyError, TypeError or ValueError for anything else."""
    return Directory(
        {name: Destination(Kind(kind), str(address)) for name, (kind, address) in written["destinations"].items()},
        tuple(Route(tuple(to), severity or None, owner or None) for to, severity, owner in written["routes"]),
    )


def report_key(alarm_arn: str, changed_at: str) -> str:
    """Under which the pager keeps what became of a test page: the alarm, and the moment it changed."""
    return f"test#{alarm_arn}#{changed_at}"
