"""Does the endpoint answer: errors, latency, healthy targets, as its load balancer sees them.

Errors and latency are of all requests, whichever side of a rollout answered: while the stable side changes its version
the candidate answers all of them, and no gate judges it any more.
"""

from typing import Final

from fleet import load_balancer, naming
from fleet.alarms.scaling import awake_only, endpoint_saturated
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Comparison, CompositeSpec, MathRef, MetricRef, Severity, TreatMissingData
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


def rollout_status(settings: AlarmSettings) -> str:
    """The first thing to know of an endpoint that answers badly: what was changed."""
    return f"fleet rollout status {settings.environment} {settings.fleet}"


def _metric(names: EndpointNames, name: str, statistic: str) -> MetricRef:
    return MetricRef(load_balancer.NAMESPACE, name, statistic, names.dimensions(name))


def _of_both_sides(names: EndpointNames, name: str, statistic: str) -> MetricRef:
    return MetricRef(load_balancer.NAMESPACE, name, statistic, names.both_sides)


def _errors(settings: AlarmSettings, names: EndpointNames) -> AlarmSpec:
    failed = "(FILL(target, 0) + FILL(balancer, 0))"
    # Requests that reached no target are in the balancer's own errors only.
    total = "(FILL(requests, 0) + FILL(balancer, 0))"
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="EndpointErrors",
        title="Endpoint errors",
        severity=Severity.PAGE,
        summary=f"More than {ERROR_PERCENT:g} % of the endpoint's requests fail.",
        action="Look at the newest deployment and the tasks' logs; roll back if they changed together.",
        first_command=rollout_status(settings),
        metric=MathRef(
            f"IF({total} >= {MINIMUM_REQUESTS}, 100 * {failed} / {total}, 0)",
            (
                ("requests", _of_both_sides(names, load_balancer.REQUEST_COUNT, "Sum")),
                ("target", _of_both_sides(names, load_balancer.TARGET_5XX, "Sum")),
                ("balancer", _metric(names, load_balancer.BALANCER_5XX, "Sum")),
            ),
        ),
        comparison=Comparison.ABOVE,
        threshold=ERROR_PERCENT,
        datapoints=(3, 5),
        silence=TreatMissingData.NOT_BREACHING,
    )


def _latency(settings: AlarmSettings, names: EndpointNames) -> AlarmSpec:
    limit = settings.thresholds.latency_p99_seconds
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="EndpointLatencyP99",
        title="Endpoint latency p99",
        severity=Severity.PAGE,
        summary=f"One request in a hundred takes longer than {limit:g} seconds.",
        action="Compare the core utilization with the traffic: add nodes if it is full, else look for a slow node.",
        first_command=rollout_status(settings),
        metric=MathRef(
            f"IF(FILL(requests, 0) >= {MINIMUM_REQUESTS}, latency, 0)",
            (
                ("requests", _of_both_sides(names, load_balancer.REQUEST_COUNT, "Sum")),
                ("latency", _of_both_sides(names, load_balancer.TARGET_RESPONSE_TIME, "p99")),
            ),
        ),
        comparison=Comparison.ABOVE,
        threshold=limit,
        datapoints=(5, 10),
        silence=TreatMissingData.NOT_BREACHING,
    )


def _no_healthy_targets(settings: AlarmSettings, names: EndpointNames) -> AlarmSpec:
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="NoHealthyTargets",
        title="No healthy targets",
        severity=Severity.PAGE,
        summary="The endpoint has no healthy target.",
        action="Look at the service's events and the tasks' health checks; roll back the newest deployment.",
        first_command="aws ecs list-container-instances --region {region} --cluster "
        + naming.cluster_name(settings.environment, settings.fleet),
        # While the stable side changes its version, a rollout's candidate answers. That is believed when the stable
        # side is asked for nothing, many requests are answered all the same, and none finds no target: where a part
        # of them should have gone to a stable side that is down, they would be among those that are refused, or would
        # be counted as asked of its unhealthy targets.
        metric=MathRef(
            f"IF(FILL(asked, 0) < 1 AND FILL(refused, 0) < 1 AND FILL(answered, 0) >= {MINIMUM_REQUESTS}, 1, healthy)",
            (
                ("healthy", _metric(names, load_balancer.HEALTHY_HOST_COUNT, "Minimum")),
                ("asked", _metric(names, load_balancer.REQUEST_COUNT, "Sum")),
                ("refused", _metric(names, load_balancer.BALANCER_503, "Sum")),
                ("answered", _of_both_sides(names, load_balancer.REQUEST_COUNT, "Sum")),
            ),
        ),
        comparison=Comparison.BELOW,
        threshold=1,
        datapoints=(3, 3),
        # Targets that are registered are always counted; where none is, none is healthy.
        silence=TreatMissingData.BREACHING,
    )
