"""Does the endpoint answer: errors, latency, and whether anything is there. The keys are those of every endpoint.

Of one that ECS runs, as its load balancer sees it: errors and latency are of all requests, whichever side of a rollout
answered, for while the stable side changes its version the candidate answers all of them, and no gate judges it any
more. Of one that SageMaker runs, its stable variant: during a rollout the candidate is judged by the rollout's gates.
"""

from typing import Final

from fleet import load_balancer, naming
from fleet.alarm_page import EvidenceKind
from fleet.alarms.metric_refs import MathRef, MetricRef
from fleet.alarms.scaling import awake_only, endpoint_saturated
from fleet.alarms.settings import AlarmSettings, Subject
from fleet.alarms.specs import AlarmSpec, Area, Comparison, CompositeSpec, TreatMissingData
from fleet.hosting import variants
from fleet.hosting.variants import VariantNames
from fleet.lateness import lasting, lasting_of_one
from fleet.load_balancer import EndpointNames

ERROR_PERCENT: Final = 5.0
# Below this many requests a minute a single bad one would be a share worth a page.
MINIMUM_REQUESTS: Final = 20
# Of one core to the last digit; less than that no instance says of itself.
_NO_CPU: Final = 0.0


def endpoint_alarms(settings: AlarmSettings, names: EndpointNames) -> tuple[AlarmSpec | CompositeSpec, ...]:
    """The alarms of the endpoint that a fleet serves behind a load balancer."""
    errors, latency, no_targets = _balanced(settings, names)
    scaling = settings.scaling
    if scaling is None:
        return (errors, latency, no_targets)
    saturated = endpoint_saturated(settings, names, scaling)
    if not scaling.reaches_zero:
        return (errors, latency, no_targets, saturated)
    return (latency, saturated, *awake_only(settings, names, scaling, (errors, no_targets)))


def hosted_alarms(settings: AlarmSettings, names: VariantNames) -> tuple[AlarmSpec, ...]:
    """The alarms of a fleet that SageMaker serves; there are no others, for no agent runs there."""

    def metric(name: str, statistic: str, namespace: str = variants.NAMESPACE) -> MetricRef:
        return MetricRef(namespace, name, statistic, names.dimensions)

    # No node of it writes a log.
    endpoint = settings.about(Area.ENDPOINT, EvidenceKind.NONE)
    requests, limit = metric(variants.INVOCATIONS, "Sum"), settings.thresholds.latency_p99_seconds
    return (
        _errors(
            endpoint,
            summary=f"More than {ERROR_PERCENT:g} % of the SageMaker endpoint's requests fail.",
            action="Look at the newest rollout and the endpoint's log; roll back if they changed together.",
            failed="FILL(failed, 0)",
            total="FILL(requests, 0)",
            queries=(("requests", requests), ("failed", metric(variants.ERRORS_5XX, "Sum"))),
        ),
        _latency(
            endpoint,
            limit,
            summary=f"One request in a hundred takes the SageMaker endpoint's model longer than {limit:g} seconds.",
            action="Compare invocations per instance with what one can take: raise sagemaker.max, or look for a slow "
            "one.",
            seconds=f"latency / {variants.MICROSECONDS}",
            requests=requests,
            latency=metric(variants.MODEL_LATENCY, "p99"),
        ),
        endpoint.page(
            "NoHealthyTargets",
            summary="No instance of the SageMaker endpoint says anything.",
            action="Look at the endpoint's status and its FailureReason; roll back the newest version.",
            first_command="aws sagemaker describe-endpoint --region {region} --endpoint-name "
            f"{naming.hosted_endpoint(settings.environment, settings.fleet)} "
            "--query '[EndpointStatus,FailureReason,ProductionVariants]'",
            # SageMaker counts no healthy instances. One that is there says how busy it is, once a minute.
            metric=metric(variants.CPU, "Maximum", variants.INSTANCES_NAMESPACE),
            comparison=Comparison.BELOW,
            threshold=_NO_CPU,
            datapoints=lasting_of_one(4),
            silence=TreatMissingData.BREACHING,
        ),
    )


def _balanced(settings: AlarmSettings, names: EndpointNames) -> tuple[AlarmSpec, AlarmSpec, AlarmSpec]:
    def stable(name: str, statistic: str) -> MetricRef:
        return MetricRef(load_balancer.NAMESPACE, name, statistic, names.dimensions(name))

    def of_both_sides(name: str, statistic: str) -> MetricRef:
        return MetricRef(load_balancer.NAMESPACE, name, statistic, names.both_sides)

    endpoint = settings.about(Area.ENDPOINT)
    requests, limit = of_both_sides(load_balancer.REQUEST_COUNT, "Sum"), settings.thresholds.latency_p99_seconds
    return (
        _errors(
            endpoint,
            summary=f"More than {ERROR_PERCENT:g} % of the endpoint's requests fail.",
            action="Look at the newest deployment and the tasks' logs; roll back if they changed together.",
            failed="(FILL(target, 0) + FILL(balancer, 0))",
            # Requests that reached no target are in the balancer's own errors only.
            total="(FILL(requests, 0) + FILL(balancer, 0))",
            queries=(
                ("requests", requests),
                ("target", of_both_sides(load_balancer.TARGET_5XX, "Sum")),
                ("balancer", stable(load_balancer.BALANCER_5XX, "Sum")),
            ),
        ),
        _latency(
            endpoint,
            limit,
            summary=f"One request in a hundred takes longer than {limit:g} seconds.",
            action="Compare the core utilization with the traffic: add nodes if it is full, else look for a slow node.",
            seconds="latency",
            requests=requests,
            latency=of_both_sides(load_balancer.TARGET_RESPONSE_TIME, "p99"),
        ),
        endpoint.page(
            "NoHealthyTargets",
            summary="The endpoint has no healthy target.",
            action="Look at the service's events and the tasks' health checks; roll back the newest deployment.",
            first_command="aws ecs list-container-instances --region {region} --cluster "
            + naming.cluster_name(settings.environment, settings.fleet),
            # While the stable side changes its version, a rollout's candidate answers. That is believed when the stable
            # side is asked for nothing, many requests are answered all the same, and none finds no target: where a part
            # of them should have gone to a stable side that is down, they would be among those that are refused, or
            # would be counted as asked of its unhealthy targets.
            metric=MathRef(
                "IF(FILL(asked, 0) < 1 AND FILL(refused, 0) < 1 AND "
                f"FILL(answered, 0) >= {MINIMUM_REQUESTS}, 1, healthy)",
                (
                    ("healthy", stable(load_balancer.HEALTHY_HOST_COUNT, "Minimum")),
                    ("asked", stable(load_balancer.REQUEST_COUNT, "Sum")),
                    ("refused", stable(load_balancer.BALANCER_503, "Sum")),
                    ("answered", requests),
                ),
            ),
            comparison=Comparison.BELOW,
            threshold=1,
            datapoints=lasting_of_one(4),
            # Targets that are registered are always counted; where none is, none is healthy.
            silence=TreatMissingData.BREACHING,
            drawn_on=load_balancer.HEALTHY_HOST_COUNT,
        ),
    )


def _errors(
    endpoint: Subject,
    *,
    summary: str,
    action: str,
    failed: str,
    total: str,
    queries: tuple[tuple[str, MetricRef], ...],
) -> AlarmSpec:
    return endpoint.page(
        "EndpointErrors",
        summary=summary,
        action=action,
        first_command=_rollout_status(endpoint),
        metric=MathRef(f"IF({total} >= {MINIMUM_REQUESTS}, 100 * {failed} / {total}, 0)", queries),
        comparison=Comparison.ABOVE,
        threshold=ERROR_PERCENT,
        datapoints=lasting(3),
        silence=TreatMissingData.NOT_BREACHING,
    )


def _latency(  # noqa: PLR0913  all named
    endpoint: Subject,
    limit: float,
    *,
    summary: str,
    action: str,
    seconds: str,
    requests: MetricRef,
    latency: MetricRef,
) -> AlarmSpec:
    return endpoint.page(
        "EndpointLatencyP99",
        summary=summary,
        action=action,
        first_command=_rollout_status(endpoint),
        metric=MathRef(
            f"IF(FILL(requests, 0) >= {MINIMUM_REQUESTS}, {seconds}, 0)",
            (("requests", requests), ("latency", latency)),
        ),
        comparison=Comparison.ABOVE,
        threshold=limit,
        datapoints=(5, 10),
        silence=TreatMissingData.NOT_BREACHING,
        drawn_on=latency.name,
    )


def _rollout_status(endpoint: Subject) -> str:
    """The first thing to know of an endpoint that answers badly: what was changed."""
    return f"fleet rollout status {endpoint.environment} {endpoint.name}"
