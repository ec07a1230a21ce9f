"""What compiling costs a fleet: graphs, seconds, how many were found compiled, and the cluster time that waited.

Sums run from the left edge of what is shown, so that a rate over a quiet minute does not jump between 0 and 100, and an
amount is that of the whole time on the screen. A minute in which something was not measured adds nothing to them.
"""

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards.widgets import MINUTE, Row, Shape, graph, row, series
from fleet import metrics
from fleet.alarms import Spec, drawn_on
from fleet.metrics import MetricSpec, Unit

_SINCE = "since the left edge"


def rows(environment: str, fleet: str, specs: Sequence[Spec]) -> list[Row]:
    """Two rows for one fleet that trains; ``specs`` are its alarms."""
    return [
        row(
            graph(
                "Graphs a minute",
                Unit.COUNT,
                [
                    series(metrics.COMPILATION_EVENTS, "Sum", environment, fleet, label="compiled"),
                    series(metrics.COMPILE_CACHE_HITS, "Sum", environment, fleet, label="found compiled"),
                    series(metrics.COMPILE_FAILURES, "Sum", environment, fleet, label="failed"),
                ],
                alarms=drawn_on(metrics.COMPILE_FAILURES.name, specs),
            ),
            graph(
                "Compiling, seconds that ended in the minute",
                Unit.SECONDS,
                [series(metrics.COMPILATION_SECONDS, "Sum", environment, fleet)],
            ),
            graph(f"Found compiled, {_SINCE}", Unit.PERCENT, [_hit_rate(environment, fleet)]),
        ),
        row(
            graph(f"Compilation saved, minutes {_SINCE}", Unit.NONE, [_saved(environment, fleet)]),
            graph(f"Nodes waited for compilers, dollars {_SINCE}", Unit.NONE, [_waited(environment, fleet)]),
        ),
    ]


def serving(environment: str, fleet: str, specs: Sequence[Spec]) -> Shape:
    """For a fleet that serves, where nothing should ever be compiled."""
    misses = [series(metrics.COMPILE_CACHE_MISSES, "Sum", environment, fleet, label="not found compiled")]
    alarms = drawn_on(metrics.COMPILE_CACHE_MISSES.name, specs)
    return graph("Graphs that requests wait for", Unit.COUNT, misses, alarms=alarms)


def _hit_rate(environment: str, fleet: str) -> cw.MathExpression:
    # Hits are absent where nobody can see them, and then there is no rate; misses are absent where nothing compiles.
    return _expression(
        # Division takes missing hits for 0; a missing condition leaves no rate.
        "IF(FILL(RUNNING_SUM(hits), REPEAT) >= 0,"
        " 100 * FILL(RUNNING_SUM(hits), REPEAT) / (FILL(RUNNING_SUM(hits), REPEAT) + RUNNING_SUM(FILL(misses, 0))))",
        {"hits": metrics.COMPILE_CACHE_HITS, "misses": metrics.COMPILE_CACHE_MISSES},
        environment,
        fleet,
        label="found compiled",
    )


def _saved(environment: str, fleet: str) -> cw.MathExpression:
    """Nobody measures a compilation that did not happen: as long as those that did, on average of what is shown."""
    return _expression(
        "FILL(RUNNING_SUM(found), REPEAT) * SUM(seconds) / SUM(compiled) / 60",
        {
            "found": metrics.COMPILE_CACHE_HITS,
            "seconds": metrics.COMPILATION_SECONDS,
            "compiled": metrics.COMPILATION_EVENTS,
        },
        environment,
        fleet,
        label="minutes, at the mean of the graphs compiled here",
    )


def _waited(environment: str, fleet: str) -> cw.MathExpression:
    parts = {
        "compiling": series(metrics.NODES_COMPILING, "Sum", environment, fleet),
        # All nodes of a fleet have one type and one price.
        "price": series(metrics.COST_USD_PER_HOUR, "Average", environment, fleet),
    }
    return cw.MathExpression(
        expression="RUNNING_SUM(compiling * price / 60)", using_metrics=parts, label="dollars", period=MINUTE
    )


def _expression(
    text: str, parts: dict[str, MetricSpec], environment: str, fleet: str, *, label: str
) -> cw.MathExpression:
    metrics_of = {name: series(spec, "Sum", environment, fleet) for name, spec in parts.items()}
    return cw.MathExpression(expression=text, using_metrics=metrics_of, label=label, period=MINUTE)
