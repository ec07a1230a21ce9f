"""Does the endpoint answer: errors, latency, healthy targets, as its load balancer sees them."""

from typing import Final

from fleet import load_balancer
from fleet.alarms.scaling import awake_only, endpoint_saturated
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Comparison, CompositeSpec, MathRef, MetricRef, Severity, Silence
from fleet.load_balancer import EndpointNames

ERROR_PERCENT: Final = 5.0
# Below this many requests a minute a single bad one would be a share worth a page.
MINIMUM_REQUESTS: Final = 20


def endpoint_alarms(settings: AlarmSettings, names: EndpointNames) -> tuple[AlarmSpec | CompositeSpec, ...]:
    """The alarms of the endpoint that a fleet serves."""
    errors, latency, no_targets = (
        _errors(settings, names),
        _latency(settings, names),
        _no_healthy_targets(settings, names),
    )
    scaling = settings.scaling
    if scaling is None:
        return (errors, latency, no_targets)
    saturated = endpoint_saturated(settings, names, scaling)
    if not scaling.reaches_zero:
        return (errors, latency, no_targets, saturated)
    return (latency, saturated, *awake_only(settings, names, scaling, (errors, no_targets)))


def _metric(names: EndpointNames, name: str, statistic: str) -> MetricRef:
    return MetricRef(load_balancer.NAMESPACE, name, statistic, names.dimensions(name))


def _errors(settings: AlarmSettings, names: EndpointNames) -> AlarmSpec:
    failed = "(FILL(target, 0) + FILL(balancer, 0))"
    # Requests that reached no target are in the balancer's own errors only.
    total = "(FILL(requests, 0) + FILL(balancer, 0))"
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="EndpointErrors",
        severity=Severity.PAGE,
        summary=f"More than {ERROR_PERCENT:g} % of the endpoint's requests fail.",
        action="Look at the newest deployment and the tasks' logs; roll back if they changed together.",
        metric=MathRef(
            f"IF({total} >= {MINIMUM_REQUESTS}, 100 * {failed} / {total}, 0)",
            (
                ("requests", _metric(names, load_balancer.REQUEST_COUNT, "Sum")),
                ("target", _metric(names, load_balancer.TARGET_5XX, "Sum")),
                ("balancer", _metric(names, load_balancer.BALANCER_5XX, "Sum")),
            ),
        ),
        comparison=Comparison.ABOVE,
        threshold=ERROR_PERCENT,
        datapoints=(3, 5),
        silence=Silence.NOT_BREACHING,
    )


def _latency(settings: AlarmSettings, names: EndpointNames) -> AlarmSpec:
    limit = settings.thresholds.latency_p99_seconds
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="EndpointLatencyP99",
        severity=Severity.PAGE,
        summary=f"One request in a hundred takes longer than {limit:g} seconds.",
        action="Compare the core utilization with the traffic: add nodes if it is full, else look for a slow node.",
        metric=MathRef(
            f"IF(FILL(requests, 0) >= {MINIMUM_REQUESTS}, latency, 0)",
            (
                ("requests", _metric(names, load_balancer.REQUEST_COUNT, "Sum")),
                ("latency", _metric(names, load_balancer.TARGET_RESPONSE_TIME, "p99")),
            ),
        ),
        comparison=Comparison.ABOVE,
        threshold=limit,
        datapoints=(5, 10),
        silence=Silence.NOT_BREACHING,
    )


def _no_healthy_targets(settings: AlarmSettings, names: EndpointNames) -> AlarmSpec:
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="NoHealthyTargets",
        severity=Severity.PAGE,
        summary="The endpoint has no healthy target.",
        action="Look at the service's events and the tasks' health checks; roll back the newest deployment.",
        metric=_metric(names, load_balancer.HEALTHY_HOST_COUNT, "Minimum"),
        comparison=Comparison.BELOW,
        threshold=1,
        datapoints=(3, 3),
        # The balancer always reports; without it, nothing answers either.
        silence=Silence.BREACHING,
    )
