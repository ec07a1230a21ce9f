"""Does an endpoint that SageMaker runs answer: errors, latency, instances. The keys are those of every endpoint.

What is watched is the stable variant: during a rollout the candidate is judged by the rollout's gates. The page is the
same as with a load balancer, and so are the share of errors and the least traffic.
"""

from typing import Final

from fleet import naming
from fleet.alarms.endpoint import ERROR_PERCENT, MINIMUM_REQUESTS, rollout_status
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, Comparison, MathRef, MetricRef, Severity, TreatMissingData
from fleet.hosting import variants
from fleet.hosting.variants import VariantNames

# Of one core to the last digit; less than that no instance says of itself.
_NO_CPU: Final = 0.0


def hosted_alarms(settings: AlarmSettings, names: VariantNames) -> tuple[AlarmSpec, ...]:
    """The alarms of a fleet that SageMaker serves; there are no others, for no agent runs there."""
    return (_errors(settings, names), _latency(settings, names), _no_instance(settings, names))


def _metric(names: VariantNames, name: str, statistic: str, namespace: str = variants.NAMESPACE) -> MetricRef:
    return MetricRef(namespace, name, statistic, names.dimensions)


def _errors(settings: AlarmSettings, names: VariantNames) -> AlarmSpec:
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="EndpointErrors",
        title="Endpoint errors",
        severity=Severity.PAGE,
        summary=f"More than {ERROR_PERCENT:g} % of the SageMaker endpoint's requests fail.",
        action="Look at the newest rollout and the endpoint's log; roll back if they changed together.",
        first_command=rollout_status(settings),
        metric=MathRef(
            f"IF(FILL(requests, 0) >= {MINIMUM_REQUESTS}, 100 * FILL(failed, 0) / FILL(requests, 0), 0)",
            (
                ("requests", _metric(names, variants.INVOCATIONS, "Sum")),
                ("failed", _metric(names, variants.ERRORS_5XX, "Sum")),
            ),
        ),
        comparison=Comparison.ABOVE,
        threshold=ERROR_PERCENT,
        datapoints=(3, 5),
        silence=TreatMissingData.NOT_BREACHING,
    )


def _latency(settings: AlarmSettings, names: VariantNames) -> AlarmSpec:
    limit = settings.thresholds.latency_p99_seconds
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="EndpointLatencyP99",
        title="Endpoint latency p99",
        severity=Severity.PAGE,
        summary=f"One request in a hundred takes the SageMaker endpoint's model longer than {limit:g} seconds.",
        action="Compare invocations per instance with what one can take: raise sagemaker.max, or look for a slow one.",
        first_command=rollout_status(settings),
        metric=MathRef(
            f"IF(FILL(requests, 0) >= {MINIMUM_REQUESTS}, latency / {variants.MICROSECONDS}, 0)",
            (
                ("requests", _metric(names, variants.INVOCATIONS, "Sum")),
                ("latency", _metric(names, variants.MODEL_LATENCY, "p99")),
            ),
        ),
        comparison=Comparison.ABOVE,
        threshold=limit,
        datapoints=(5, 10),
        silence=TreatMissingData.NOT_BREACHING,
    )


def _no_instance(settings: AlarmSettings, names: VariantNames) -> AlarmSpec:
    return AlarmSpec(
        environment=settings.environment,
        subject=settings.fleet,
        key="NoHealthyTargets",
        title="No healthy targets",
        severity=Severity.PAGE,
        summary="No instance of the SageMaker endpoint says anything.",
        action="Look at the endpoint's status and its FailureReason; roll back the newest version.",
        first_command="aws sagemaker describe-endpoint --region {region} --endpoint-name "
        f"{naming.hosted_endpoint(settings.environment, settings.fleet)} "
        "--query '[EndpointStatus,FailureReason,ProductionVariants]'",
        # SageMaker counts no healthy instances. One that is there says how busy it is, once a minute.
        metric=_metric(names, variants.CPU, "Maximum", variants.INSTANCES_NAMESPACE),
        comparison=Comparison.BELOW,
        threshold=_NO_CPU,
        datapoints=(3, 3),
        silence=TreatMissingData.BREACHING,
    )
