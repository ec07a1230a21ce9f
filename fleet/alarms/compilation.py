"""Do compilations end, do they end well, and does anything compile that must not: what agents see in compile caches."""

from typing import Final

from fleet import metrics
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Comparison, Severity, TreatMissingData
from fleet.metrics import MetricSpec

# One ticket for a model's many graphs: the alarm rests when a quarter of an hour has passed without another.
_REST_MINUTES: Final = 15


def compilation_alarms(settings: AlarmSettings) -> tuple[AlarmSpec, ...]:
    """Those of every fleet, and what a fleet that serves must never do."""
    always = (_too_long(settings), _failing(settings))
    return always if settings.purpose == "training" else (*always, _miss_while_serving(settings))


def _too_long(settings: AlarmSettings) -> AlarmSpec:
    """A compilation that excuses low utilization for too long."""
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="CompileTooLong",
        title="Compile too long",
        severity=Severity.TICKET,
        summary="A node has been compiling for an hour and a half.",
        action="Look at the compiler's log and the compile cache; pre-compile on a cheaper node if it is only slow.",
        metric=settings.metric(metrics.NODES_COMPILING, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=(90, 90),
        silence=TreatMissingData.NOT_BREACHING,
    )


def _failing(settings: AlarmSettings) -> AlarmSpec:
    return _any(
        settings,
        metrics.COMPILE_FAILURES,
        key="CompileFailing",
        title="Compile failing",
        summary="The compiler refused a graph on a node of the fleet.",
        action="Read the compiler's last words with `fleet cache status`; correct the model or its flags.",
    )


def _miss_while_serving(settings: AlarmSettings) -> AlarmSpec:
    return _any(
        settings,
        metrics.COMPILE_CACHE_MISSES,
        key="CacheMissWhileServing",
        title="Cache miss while serving",
        summary="A node that serves an endpoint compiles a graph: requests wait for it, up to half an hour.",
        action="Make the artifact with `fleet cache warm`, for every sequence length that the endpoint takes.",
    )


def _any(settings: AlarmSettings, metric: MetricSpec, *, key: str, title: str, summary: str, action: str) -> AlarmSpec:
    """One is enough. Agents count nothing while nothing compiles and nothing can be seen: neither is a failure."""
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key=key,
        title=title,
        severity=Severity.TICKET,
        summary=summary,
        action=action,
        metric=settings.metric(metric, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=(1, _REST_MINUTES),
        silence=TreatMissingData.NOT_BREACHING,
    )
