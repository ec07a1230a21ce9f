"""The names of metrics are an interface: people's queries, dashboards and alarms elsewhere hold on to them.

``docs/metrics.md`` lists them. A renamed metric is a new one and one that is gone; its line there is changed by hand,
by somebody who knows that.
"""

import re
from pathlib import Path

from fleet import metrics, operations_metrics

DOCUMENT = Path(__file__).parents[2] / "docs" / "metrics.md"


def table(heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without code marks."""
    section = re.split(r"^## ", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (found,) = [part for part in section if part.startswith(f"{heading}\n")]
    rows = [line.strip("| ").split(" | ") for line in found.splitlines() if line.startswith("| `")]
    return [[cell.strip("`") for cell in row] for row in rows]


def test_the_fleets_metrics_are_listed_as_they_are() -> None:
    assert table("Fleets and jobs") == [
        [
            spec.name,
            spec.unit.value,
            spec.kind.value,
            ", ".join(name for name, is_there in (("fleet", spec.per_fleet), ("job", spec.per_job)) if is_there),
            spec.publisher.value,
            spec.meaning,
        ]
        for spec in metrics.CATALOGUE.values()
    ]


def test_the_platforms_own_metrics_are_listed_as_they_are() -> None:
    assert table("The platform's own machinery") == [
        [metric.name, metric.meaning] for metric in operations_metrics.CATALOGUE.values()
    ]
