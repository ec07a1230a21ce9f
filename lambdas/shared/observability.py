"""Logs and metrics of every function: one JSON logger, one way to emit a metric.

``POWERTOOLS_SERVICE_NAME`` must stay unset: it adds a ``service`` dimension to every metric, and an alarm on the
documented dimensions would then look at a series that does not exist.
"""

from functools import cache

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from fleet.operations_metrics import ENVIRONMENT, NAMESPACE, OperationsMetric


@cache
def logger(function: str) -> Logger:
    """The function's JSON logger; its level comes from LOG_LEVEL."""
    return Logger(service=function)


def emit(metric: OperationsMetric, value: float, environment: str, **metadata: str) -> None:
    """Publish one datum through the function's log, with ``metadata`` beside it for queries."""
    with single_metric(name=metric.name, unit=MetricUnit(metric.unit), value=value, namespace=NAMESPACE) as datum:
        datum.add_dimension(name=ENVIRONMENT, value=environment)
        for key, text in metadata.items():
            datum.add_metadata(key=key, value=text)
