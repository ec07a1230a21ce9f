"""Does the precompile pipeline bring what was asked of it: its executions, and what nobody could read.

The executions are counted by Step Functions itself, so one that never came as far as our own code counts too (Step
Functions Developer Guide, "Monitoring Step Functions metrics using Amazon CloudWatch").
"""

from typing import Final

from fleet import naming
from fleet.alarm_page import EvidenceKind
from fleet.alarms.functions import PRECOMPILE, waiting
from fleet.alarms.specs import AlarmSpec, Comparison, MathRef, MetricRef, Severity, TreatMissingData

STATES: Final = "AWS/States"
_REST_MINUTES: Final = 15


def precompile_alarms(environment: str, machine: str) -> tuple[AlarmSpec, ...]:
    """The alarms of an environment's pipeline; ``machine`` is the ARN of its state machine."""
    return (_failed(environment, machine), _unhandled(environment))


def _failed(environment: str, machine: str) -> AlarmSpec:
    def executions(name: str) -> MetricRef:
        # Each execution is a datum of 1, so the largest of a minute says whether there was one.
        return MetricRef(STATES, name, "Maximum", (("StateMachineArn", machine),))

    return AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key="PrecompileFailed",
        title="Precompile failed",
        severity=Severity.TICKET,
        summary="A precompilation failed or ran out of time: what waits for its artifact goes on waiting.",
        action="Read the cause with `fleet cache status`, correct it, and start it again with `fleet cache warm`.",
        evidence=EvidenceKind.NONE,
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
