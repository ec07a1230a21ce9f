"""What happens to machines, agents and the environment around the jobs: what is nobody's business, and what is."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fleet.alarms import Severity
from local.replay.generator import figures
from local.replay.generator.day import FREE, STARTS
from local.replay.generator.labels import broken
from local.replay.generator.site import Placed, Site
from local.replay.scenario import Change, EventKind, Incident, Maintenance

_MAJORITY: Final = 0.5


def _some_minute(site: Site) -> int:
    return round(site.minutes * site.rng.uniform(0.2, 0.8))


def monitor_restarts(site: Site) -> None:
    """neuron-monitor dies on a node and is back soon."""
    for _ in range(site.rng.randint(1, 3)):
        at = _some_minute(site)
        node = site.rng.randrange(site.nodes)
        site.event("monitor-death", (node,), at, at + figures.RESTARTED_MONITOR.whole(site.rng))


def lost_metrics(site: Site) -> None:
    """A route or CloudWatch is away for some minutes, for one node, some, or all; what was kept comes afterwards."""
    at = _some_minute(site)
    until = at + figures.LOST_METRICS.whole(site.rng)
    if site.rng.random() < 0.5:
        site.outages.append((at, min(until, site.minutes)))
    else:
        site.event("no-route", _share(site), at, until)


def deployment(site: Site) -> None:
    """Stacks and agents are updated; jobs run on."""
    at = _some_minute(site)
    site.changes.append(Change(kind="deployment", at=at, until=min(site.minutes, at + _minutes(site))))
    site.event("agent-down", (site.rng.randrange(site.nodes),), at, at + 2)


def _minutes(site: Site) -> int:
    return figures.DEPLOYMENT.whole(site.rng)


def maintenance(site: Site) -> None:
    """A planned window: nodes drain, boot with a new driver, and their jobs start again before it ends."""
    placed, at = site.jobs[0], site.jobs[0].track.now
    until = min(site.minutes, at + figures.MAINTENANCE.whole(site.rng))
    site.maintenance.append(Maintenance(at=at, until=until, fleets=(site.name,)))
    site.event("draining", placed.nodes, at, at + 4)
    site.event("node-gone", placed.nodes, at + 4, at + 4 + figures.REPLACED.whole(site.rng))
    placed.track.add(FREE, (until - at) * 0.7)


def replacement(site: Site) -> None:
    """A node is replaced in good order, and its job starts again."""
    placed, at = site.jobs[0], site.jobs[0].track.now
    kind: EventKind = "interruption" if site.machine.market.value == "spot" else "draining"
    site.event(kind, (placed.odd,), at, at + 2)
    until = at + 2 + figures.REPLACED.whole(site.rng)
    site.event("node-gone", (placed.odd,), at + 2, until)
    placed.track.add(FREE, until - at)
    placed.track.add(STARTS, figures.STARTUP.draw(site.rng))
    if kind == "interruption":
        label = {"severity": Severity.TICKET, "optional": True, "usd_per_hour": 0.0}
        broken(site, placed, "capacity", (at, at + 30), (placed.odd,), **label)


AROUND: Final[Mapping[str, Callable[[Site], None]]] = {
    "monitor-restarts": monitor_restarts,
    "lost-metrics": lost_metrics,
    "deployment": deployment,
}
"""What happens beside any day. Nobody wants to hear of it."""


def _share(site: Site) -> tuple[int, ...]:
    count = max(1, round(site.nodes * figures.BLIND_SHARE.draw(site.rng)))
    return tuple(sorted(site.rng.sample(range(site.nodes), count)))


def _unseen(kind: EventKind) -> Callable[[Site, Placed], None]:
    """Nodes that nobody sees: a page where it is half of a fleet or more, whose trouble would stay untold."""

    def happens(site: Site, placed: Placed) -> None:
        nodes = _share(site)
        at = placed.track.now
        until = min(site.minutes, at + figures.LASTS.whole(site.rng))
        site.event(kind, nodes, at, until)
        is_page = len(nodes) >= site.nodes * _MAJORITY
        label: dict[str, Any] = {} if is_page else {"severity": Severity.TICKET, "by": min(site.minutes, at + 60)}
        broken(site, placed, "blind", (at, until), nodes, **label)

    return happens


blind: Final = _unseen("monitor-death")
garbled: Final = _unseen("monitor-garbage")
silent: Final = _unseen("agent-down")
route_lost: Final = _unseen("no-route")


def endpoint_sick(site: Site, placed: Placed) -> None:
    """All targets of an endpoint fail their health checks."""
    _endpoint_breaks(site, placed, {"healthy": 0, "unhealthy": site.nodes})


def endpoint_gone(site: Site, placed: Placed) -> None:
    """An endpoint has no target left."""
    _endpoint_breaks(site, placed, {})


def endpoint_errors(site: Site, placed: Placed) -> None:
    """An endpoint answers a good part of its requests with errors."""
    _endpoint_breaks(site, placed, {"healthy": site.nodes, "failing_percent": round(site.rng.uniform(8, 60), 1)})


def endpoint_slow(site: Site, placed: Placed) -> None:
    """An endpoint answers late."""
    _endpoint_breaks(site, placed, {"healthy": site.nodes, "p99_seconds": round(site.rng.uniform(4, 20), 1)})


def answers(site: Site) -> None:
    """The endpoint of a fleet that serves, from the first minute on."""
    requests = figures.REQUESTS.whole(site.rng)
    site.endpoint.append({"at": 0, "requests": requests, "stable": {"healthy": site.nodes}})


def _endpoint_breaks(site: Site, placed: Placed, side: dict[str, Any]) -> None:
    at = placed.track.now
    until = min(site.minutes, at + figures.LASTS.whole(site.rng))
    well = site.endpoint[0]
    site.endpoint.append({**well, "at": at, "stable": side})
    if until < site.minutes:
        site.endpoint.append({**well, "at": until})
    broken(site, placed, "endpoint", (at, until), placed.nodes)


def quiet_hours(site: Site, placed: Placed) -> None:
    """An endpoint with more nodes than its traffic needs is a matter for the morning, and may be one."""
    label = {"severity": Severity.TICKET, "optional": True, "alarms": ("LowUtilization", "IdleAllocated")}
    for each in placed.track.stretches:
        span = {"fleet": site.name, "kind": "waste", "at": each.at, "by": each.until, "until": each.until}
        site.incidents.append(Incident.model_validate({**label, **span, "job": placed.id}))


OF_AN_ENDPOINT: Final[Mapping[str, Callable[[Site, Placed], None]]] = {
    "endpoint-sick": endpoint_sick,
    "endpoint-gone": endpoint_gone,
    "endpoint-errors": endpoint_errors,
    "endpoint-slow": endpoint_slow,
}
OF_A_FLEET: Final[Mapping[str, Callable[[Site, Placed], None]]] = {
    "blind": blind,
    "garbled": garbled,
    "silent": silent,
    "route-lost": route_lost,
}
