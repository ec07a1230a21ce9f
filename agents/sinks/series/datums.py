"""The values of datums, whatever their shape."""

from collections.abc import Iterable, Iterator

from agents.minute.batch import Datum
from fleet.metrics import CATALOGUE, JOB_ID, MetricSpec


def values(datums: Iterable[Datum]) -> Iterator[tuple[MetricSpec, float, str | None]]:
    """Metric, value and job of each that has one value; of a distribution its mean. The node's own have no job."""
    for datum in datums:
        spec = CATALOGUE.get(datum["MetricName"])
        value = _value(datum)
        if spec is not None and value is not None:
            yield spec, value, _job(datum)


def most(datums: Iterable[Datum], spec: MetricSpec) -> float | None:
    """The largest value of the node's own statistics of ``spec``."""
    own = (datum for datum in datums if datum["MetricName"] == spec.name and _job(datum) is None)
    return next((datum["StatisticValues"]["Maximum"] for datum in own if "StatisticValues" in datum), None)


def _job(datum: Datum) -> str | None:
    return next((entry["Value"] for entry in datum["Dimensions"] if entry["Name"] == JOB_ID), None)


def _value(datum: Datum) -> float | None:
    if "Value" in datum:
        return float(datum["Value"])
    counts = datum.get("Counts")
    if not counts:
        return None
    return float(sum(value * count for value, count in zip(datum["Values"], counts, strict=True)) / sum(counts))
