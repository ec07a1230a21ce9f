"""An endpoint that SageMaker runs, as SageMaker measures it: there is no agent, and nobody sees the cores."""

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards.widgets import MINUTE, Row, graph, row, text
from environments.fleets import InferenceFleet
from environments.hosted_rules import price_difference_text
from fleet import naming
from fleet.alarms import AlarmSpec, Spec
from fleet.hosting import variants
from fleet.hosting.variants import CANDIDATE, STABLE, VariantNames
from fleet.metrics import Unit


def section(environment: str, region: str, fleet: InferenceFleet, specs: Sequence[Spec]) -> list[Row]:
    """Both variants side by side; outside of a rollout there is one."""
    thresholds = {spec.key: spec for spec in specs if isinstance(spec, AlarmSpec)}
    endpoint = naming.hosted_endpoint(environment, fleet.name)
    size = f"{fleet.nodes} x ml.{fleet.instance_type}, SageMaker, owner {fleet.owner}"
    return [
        row(text(f"## {fleet.name}\n{size}: {price_difference_text(region, fleet)}")),
        row(
            graph("Invocations a minute", Unit.COUNT, _both(endpoint, variants.INVOCATIONS, "Sum")),
            graph("Failed invocations a minute", Unit.COUNT, _both(endpoint, variants.ERRORS_5XX, "Sum")),
            graph(
                "Latency of the model, p99",
                Unit.SECONDS,
                [_seconds(line, name) for name, line in _lines(endpoint, variants.MODEL_LATENCY, "p99").items()],
                alarms=[thresholds["EndpointLatencyP99"]],
            ),
            graph(
                "Invocations a minute and instance",
                Unit.COUNT,
                _both(endpoint, variants.INVOCATIONS_PER_INSTANCE, "Sum"),
            ),
        ),
    ]


def _both(endpoint: str, metric: str, statistic: str) -> list[cw.IMetric]:
    return list(_lines(endpoint, metric, statistic).values())


def _lines(endpoint: str, metric: str, statistic: str) -> dict[str, cw.Metric]:
    return {
        name: cw.Metric(
            namespace=variants.NAMESPACE,
            metric_name=metric,
            statistic=statistic,
            dimensions_map=dict(VariantNames(endpoint, name).dimensions),
            period=MINUTE,
            label=name,
        )
        for name in (STABLE, CANDIDATE)
    }


def _seconds(line: cw.Metric, name: str) -> cw.IMetric:
    return cw.MathExpression(
        expression=f"{name} / {variants.MICROSECONDS}", using_metrics={name: line}, label=name, period=MINUTE
    )
