"""An endpoint that SageMaker runs, as SageMaker measures it: there is no agent, and nobody sees the cores."""

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards.widgets import MINUTE, Shape, graph, target, watched
from environments.fleets import InferenceFleet
from environments.hosted_rules import price_difference_text
from fleet import naming
from fleet.alarms import AlarmSpec, Spec, drawn_on
from fleet.hosting import variants
from fleet.hosting.variants import CANDIDATE, STABLE, VariantNames
from fleet.metrics import Unit


def heading(region: str, fleet: InferenceFleet) -> str:
    """What it is and whose, and what SageMaker costs beside EC2, as Markdown."""
    return f"{size(fleet)}: {price_difference_text(region, fleet)}"


def size(fleet: InferenceFleet) -> str:
    """What it is and whose, as Markdown."""
    return f"## {fleet.name}\n{fleet.nodes} x ml.{fleet.instance_type}, SageMaker, owner {fleet.owner}"


def answers(environment: str, fleet: InferenceFleet, specs: Sequence[Spec]) -> tuple[Shape, ...]:
    """Both variants side by side; outside of a rollout there is one."""
    endpoint = naming.hosted_endpoint(environment, fleet.name)
    scaling = fleet.endpoint.sagemaker
    load = graph(
        "Invocations a minute and instance",
        Unit.COUNT,
        _both(endpoint, variants.INVOCATIONS_PER_INSTANCE, "Sum"),
        marks=[target(scaling.invocations_per_instance_minute)] if scaling else (),
    )
    return (*_served(endpoint, specs), load)


def at_a_glance(environment: str, fleet: InferenceFleet, specs: Sequence[Spec]) -> tuple[Shape, ...]:
    """What there is of every endpoint: requests, failures, latency, and whether anything is there to answer."""
    return (*_served(naming.hosted_endpoint(environment, fleet.name), specs), instances(specs))


def instances(specs: Sequence[Spec]) -> Shape:
    """SageMaker counts no healthy ones; one that is there says how busy it is: the sum over its processors."""
    silent = next(spec for spec in specs if isinstance(spec, AlarmSpec) and spec.key == "NoHealthyTargets")
    return graph("Instances: busy percent, gone without a line", Unit.NONE, [watched(silent, label=STABLE)])


def _served(endpoint: str, specs: Sequence[Spec]) -> tuple[Shape, ...]:
    return (
        graph("Invocations a minute", Unit.COUNT, _both(endpoint, variants.INVOCATIONS, "Sum")),
        graph("Failed invocations a minute", Unit.COUNT, _both(endpoint, variants.ERRORS_5XX, "Sum")),
        graph(
            "Latency of the model, p99",
            Unit.SECONDS,
            [_seconds(line, name) for name, line in _lines(endpoint, variants.MODEL_LATENCY, "p99").items()],
            alarms=drawn_on(variants.MODEL_LATENCY, specs),
        ),
    )


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
