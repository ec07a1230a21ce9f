"""The two variants of a hosted endpoint, and what CloudWatch knows of each.

Source: SageMaker developer guide, "Amazon SageMaker AI metrics in Amazon CloudWatch", invocation metrics and instance
metrics of endpoints. Latencies are in microseconds. That CloudWatch has percentiles of them is seen in AWS's own
examples; the guide names averages, sums and extremes only.
"""

from dataclasses import dataclass
from typing import Final

STABLE: Final = "stable"
CANDIDATE: Final = "candidate"

NAMESPACE: Final = "AWS/SageMaker"
INVOCATIONS: Final = "Invocations"
ERRORS_5XX: Final = "Invocation5XXErrors"
ERRORS_4XX: Final = "Invocation4XXErrors"
MODEL_ERRORS: Final = "InvocationModelErrors"
"""Every answer that is no 2xx, and what was no answer: broken connections, malformed ones, time-outs."""
MODEL_LATENCY: Final = "ModelLatency"
OVERHEAD_LATENCY: Final = "OverheadLatency"
INVOCATIONS_PER_INSTANCE: Final = "InvocationsPerInstance"

INSTANCES_NAMESPACE: Final = "/aws/sagemaker/Endpoints"
CPU: Final = "CPUUtilization"

ENDPOINT: Final = "EndpointName"
VARIANT: Final = "VariantName"
MICROSECONDS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class VariantNames:
    """What CloudWatch calls one variant."""

    endpoint: str
    variant: str = STABLE

    @property
    def dimensions(self) -> tuple[tuple[str, str], ...]:
        """Those of every metric above."""
        return (ENDPOINT, self.endpoint), (VARIANT, self.variant)
