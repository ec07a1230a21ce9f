"""A Prometheus exporter that a test fills with minutes, and what a scrape of it says."""

from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from agents.minute.batch import Batch
from agents.sinks.prometheus.exporter import PrometheusExporter

Labels = frozenset[tuple[str, str]]
EVERYWHERE = {("environment", "test"), ("fleet", "pretrain"), ("node", "i-1")}


class Ticks:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def shown(*minutes: Batch, ticks: Ticks | None = None) -> PrometheusExporter:
    """An exporter that was handed ``minutes``."""
    exporter = PrometheusExporter(ticks or Ticks())
    for batch in minutes:
        exporter.show(batch)
    return exporter


def scraped(exporter: PrometheusExporter) -> dict[tuple[str, Labels], float]:
    """Every sample, by its name and the labels that not all samples have."""
    text = generate_latest(exporter.registry).decode()
    return {
        (sample.name, frozenset(set(sample.labels.items()) - EVERYWHERE)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def one(exporter: PrometheusExporter, name: str, **labels: str) -> float | None:
    """The sample of one name, without the prefix that all have, and exactly these labels, but for whose a job is."""
    asked = set(labels.items())
    for (found, has), value in scraped(exporter).items():
        rest = {(key, said) for key, said in has if key != "owner" or "owner" in labels or "job" not in labels}
        if found == f"neuron_fleet_{name}" and rest == asked:
            return value
    return None


def names_of(exporter: PrometheusExporter) -> set[str]:
    """The names of all samples."""
    return {name for name, _ in scraped(exporter)}
