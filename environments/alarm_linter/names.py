"""Does what alarms and widgets read exist, with these dimensions: a wrong one has no data, and never fires."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from environments.alarm_linter.watched import Series, Watched
from fleet import auto_scaling, load_balancer, metrics, operations_metrics
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.hosting import variants

# Of AWS's own namespaces, what is used: metric and the dimensions that AWS publishes it with. Sources: the user guides
# of Elastic Load Balancing, EC2 Auto Scaling, SQS, Step Functions and SageMaker on their CloudWatch metrics.
_BALANCER: Final = frozenset({load_balancer.LOAD_BALANCER})
_TARGETS: Final = frozenset({load_balancer.LOAD_BALANCER, load_balancer.TARGET_GROUP})
_VARIANT: Final = frozenset({variants.ENDPOINT, variants.VARIANT})
AWS_SERIES: Final[Mapping[str, Mapping[str, tuple[frozenset[str], ...]]]] = {
    load_balancer.NAMESPACE: {
        load_balancer.REQUEST_COUNT: (_BALANCER, _TARGETS),
        load_balancer.TARGET_5XX: (_BALANCER, _TARGETS),
        load_balancer.BALANCER_5XX: (_BALANCER,),
        load_balancer.BALANCER_503: (_BALANCER,),
        load_balancer.TARGET_RESPONSE_TIME: (_BALANCER, _TARGETS),
        load_balancer.HEALTHY_HOST_COUNT: (_TARGETS,),
        load_balancer.UNHEALTHY_HOST_COUNT: (_TARGETS,),
    },
    auto_scaling.NAMESPACE: {name: (frozenset({auto_scaling.GROUP}),) for name in auto_scaling.COLLECTED},
    variants.NAMESPACE: dict.fromkeys(
        (
            variants.INVOCATIONS,
            variants.ERRORS_5XX,
            variants.MODEL_LATENCY,
            variants.OVERHEAD_LATENCY,
            variants.INVOCATIONS_PER_INSTANCE,
        ),
        (_VARIANT,),
    ),
    variants.INSTANCES_NAMESPACE: {variants.CPU: (_VARIANT,)},
    "AWS/SQS": {
        name: (frozenset({"QueueName"}),)
        for name in ("ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage")
    },
    "AWS/States": {
        name: (frozenset({"StateMachineArn"}),)
        for name in ("ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted", "ExecutionsSucceeded")
    },
}


def unknown_names(watched: Watched, environment: str, fleets: Collection[str]) -> Iterator[Diagnostic]:
    """Every series that nobody publishes, in alarms and in widgets; ``fleets`` are those of ``environment``."""
    for alarm in watched.alarms:
        for series in alarm.series:
            yield from _judged(series, "alarm", alarm.name, environment, fleets)
    for dashboard in watched.dashboards:
        for widget in dashboard.widgets:
            for series in widget.series:
                yield from _judged(series, "widget", f"{dashboard.name}: {widget.title}", environment, fleets)


def _judged(series: Series, reader: str, place: str, environment: str, fleets: Collection[str]) -> Iterator[Diagnostic]:
    known = _published(series)
    if known is None:
        why = f"what {series.namespace} publishes is not known here: {series.name}"
        yield warn(
            f"{reader}-series-not-checked", place, series.name, why, "add it to environments/alarm_linter/names.py"
        )
    elif not known:
        why = f"nobody publishes {series.name} in {series.namespace}"
        yield refuse(f"{reader}-unknown-metric", place, series.name, why, "read a metric of fleet/metrics.py")
    elif frozenset(series.dimensions) not in known:
        right = " or ".join(", ".join(sorted(each)) for each in known)
        why = f"{series.name} is not published with {', '.join(sorted(series.dimensions)) or 'no dimension'}"
        yield refuse(f"{reader}-wrong-dimensions", place, series.name, why, f"use {right}")
    else:
        yield from _of_somebody_else(series, reader, place, environment, fleets)


def _published(series: Series) -> tuple[frozenset[str], ...] | None:
    """The dimension sets of a metric; none where it does not exist, None where nobody here knows."""
    if series.namespace == metrics.NAMESPACE:
        spec = metrics.CATALOGUE.get(series.name)
        return tuple(frozenset(each) for each in spec.dimension_sets) if spec else ()
    if series.namespace == operations_metrics.NAMESPACE:
        return (frozenset({operations_metrics.ENVIRONMENT}),) if series.name in operations_metrics.CATALOGUE else ()
    if series.namespace not in AWS_SERIES:
        return None
    return AWS_SERIES[series.namespace].get(series.name, ())


def _of_somebody_else(
    series: Series, reader: str, place: str, environment: str, fleets: Collection[str]
) -> Iterator[Diagnostic]:
    expected: dict[str, Collection[str]] = {metrics.ENVIRONMENT: (environment,), metrics.FLEET: fleets}
    for dimension, values in expected.items():
        value = series.dimensions.get(dimension)
        if value is not None and value not in values:
            why = f"{series.name} is read of {dimension} {value}, which is not this environment's"
            yield refuse(f"{reader}-wrong-dimensions", place, value, why, f"use {', '.join(values)}")
