"""Do compilations end, do they end well, and does anything compile that must not: on nodes, and in the pipeline.

On nodes it is what agents see in compile caches. The executions of the precompile pipeline are counted by Step
Functions itself, so one that never came as far as our own code counts too (Step Functions Developer Guide, "Monitoring
Step Functions metrics using Amazon CloudWatch").
"""

from typing import Final

from fleet import metrics
from fleet.alarms.functions import PRECOMPILE, waiting
from fleet.alarms.metric_refs import MathRef, MetricRef
from fleet.alarms.settings import AlarmSettings, platform
from fleet.alarms.specs import AlarmSpec, Area, Comparison, Severity, TreatMissingData
from fleet.lateness import lasting
from fleet.metrics import MetricSpec

STATES: Final = "AWS/States"
# One ticket for a model's many graphs: the alarm rests when a quarter of an hour has passed without another.
_REST_MINUTES: Final = 15


def compilation_alarms(settings: AlarmSettings) -> tuple[AlarmSpec, ...]:
    """Those of every fleet, and what a fleet that serves must never do."""
    always = (_too_long(settings), _failing(settings))
    return always if settings.purpose == "training" else (*always, _miss_while_serving(settings))


def _too_long(settings: AlarmSettings) -> AlarmSpec:
    """A compilation that excuses low utilization for too long."""
    return settings.about(Area.COMPILATION).ticket(
        "CompileTooLong",
        summary="A node has been compiling for an hour and a half.",
        action="Look at the compiler's log and the compile cache; pre-compile on a cheaper node if it is only slow.",
        metric=settings.metric(metrics.NODES_COMPILING, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=lasting(90),
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
    return settings.about(Area.COMPILATION).ticket(
        key,
        title=title,
        summary=summary,
        action=action,
        metric=settings.metric(metric, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=(1, _REST_MINUTES),
        silence=TreatMissingData.NOT_BREACHING,
        drawn_on=metric.name,
    )


def precompile_alarms(environment: str, machine: str) -> tuple[AlarmSpec, ...]:
    """The alarms of an environment's pipeline; ``machine`` is the ARN of its state machine."""
    return (_failed(environment, machine), _unhandled(environment))


def _failed(environment: str, machine: str) -> AlarmSpec:
    def executions(name: str) -> MetricRef:
        # Each execution is a datum of 1, so the largest of a minute says whether there was one.
        return MetricRef(STATES, name, "Maximum", (("StateMachineArn", machine),))

    return platform(environment).ticket(
        "PrecompileFailed",
        summary="A precompilation failed or ran out of time: what waits for its artifact goes on waiting.",
        action="Read the cause with `fleet cache status`, correct it, and start it again with `fleet cache warm`.",
        metric=MathRef(
            # What did not happen in a minute is not counted in it, and a missing operand would swallow the other.
            "IF(FILL(failed, 0) >= 1 OR FILL(late, 0) >= 1, 1, 0)",
            (("failed", executions("ExecutionsFailed")), ("late", executions("ExecutionsTimedOut"))),
        ),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        # One ticket for the models of one evening.
        datapoints=(1, _REST_MINUTES),
        silence=TreatMissingData.NOT_BREACHING,
    )


def _unhandled(environment: str) -> AlarmSpec:
    return waiting(
        environment,
        PRECOMPILE,
        key="PrecompileUnhandled",
        title="Precompile unhandled",
        severity=Severity.TICKET,
        summary="Requests to precompile a model were not heard and lie in the pipeline's dead-letter queue.",
        action="Read the oldest message; start what it asks for with `fleet cache warm`, then empty the queue.",
    )
