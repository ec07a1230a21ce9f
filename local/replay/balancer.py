"""What an endpoint's load balancer would publish of a minute: both sides of a rollout, and what found no target.

Source: "CloudWatch metrics for your Application Load Balancer" and "Target group health" of the Elastic Load Balancing
user guide. Requests for a group without targets are refused with 503 and not counted as its requests; where all targets
of a group are unhealthy, its requests go to them all the same. Healthy targets are counted where any is registered.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from fleet import load_balancer
from fleet.load_balancer import EndpointNames
from local.scenario_file import Index, Minute, Part, Percent

Datum = Mapping[str, Any]
_CANDIDATE: Final = "targetgroup/candidate/1"


class Side(Part):
    """Targets of one side, and the share of its requests that they answer with 5xx."""

    healthy: Index = 0
    unhealthy: Index = 0
    failing_percent: Percent = 0.0
    p99_seconds: Annotated[float, Field(gt=0)] = 0.4


class Answering(Part):
    """From minute ``at`` on: ``requests`` a minute, and who is asked for them."""

    at: Minute
    requests: Index
    candidate_percent: Percent = 0.0
    stable: Side
    candidate: Side = Side()


def names_of(fleet: str) -> EndpointNames:
    """What CloudWatch calls the load balancer of ``fleet``'s endpoint, and its stable side."""
    return EndpointNames(f"app/{fleet}/1", "targetgroup/stable/1")


def answered(fleet: str, stretches: tuple[Answering, ...], minute: int, begin: int) -> list[Datum]:
    """The datums of ``minute``, which begins at unix second ``begin``; none for a fleet without an endpoint."""
    now = next((each for each in reversed(stretches) if each.at <= minute), None)
    if now is None:
        return []
    names = names_of(fleet)
    theirs = round(now.requests * now.candidate_percent / 100)
    sides = (
        (names, now.stable, now.requests - theirs),
        (EndpointNames(names.load_balancer, _CANDIDATE), now.candidate, theirs),
    )
    found = [datum for side in sides for datum in _of_side(*side, begin)]
    refused = sum(requests for _, side, requests in sides if not side.healthy + side.unhealthy)
    if refused:
        for name in (load_balancer.BALANCER_5XX, load_balancer.BALANCER_503):
            found.append(_datum(name, names.both_sides, begin, refused))
    return found


def _of_side(names: EndpointNames, side: Side, requests: int, begin: int) -> list[Datum]:
    if not side.healthy + side.unhealthy:
        return []
    of_side = names.dimensions(load_balancer.HEALTHY_HOST_COUNT)
    found: list[Datum] = [
        _datum(load_balancer.HEALTHY_HOST_COUNT, of_side, begin, side.healthy),
        _datum(load_balancer.UNHEALTHY_HOST_COUNT, of_side, begin, side.unhealthy),
    ]
    failed = requests if not side.healthy else round(requests * side.failing_percent / 100)
    for dimensions in (of_side, names.both_sides):
        if requests:
            found.append(_datum(load_balancer.REQUEST_COUNT, dimensions, begin, requests))
            seconds = {"Values": [side.p99_seconds], "Counts": [requests]}
            found.append({**_datum(load_balancer.TARGET_RESPONSE_TIME, dimensions, begin, 0), **seconds})
        if failed:
            found.append(_datum(load_balancer.TARGET_5XX, dimensions, begin, failed))
    return found


def _datum(name: str, dimensions: tuple[tuple[str, str], ...], begin: int, value: float) -> dict[str, Any]:
    said = [{"Name": key, "Value": named} for key, named in dimensions]
    return {"MetricName": name, "Dimensions": said, "Timestamp": begin, "Value": float(value)}
