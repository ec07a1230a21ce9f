"""How much is pushed of a minute, where every byte is billed: what rules read, what nodes and jobs do, or all cores.

Of what rules read, whatever means the same when it is absent is left out: counts of nothing and states that are over,
which rules look for over a range.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Final

from agents.sinks.series.family import Family, Point, Shape
from agents.sinks.series.names import PREFIX
from fleet.node_state import NodeState


class Level(StrEnum):
    """From the least to all of it."""

    RULES = "rules"
    NODES = "nodes"
    CORES = "cores"


# A contract test holds these against the rules' own expressions.
READ_BY_RULES: Final = frozenset(
    f"{PREFIX}_{name}"
    for name in (
        "node_state",
        "node_nodes_unused",
        "node_cost_usd_per_hour",
        "node_hardware_errors_per_minute",
        "node_hbm_used_ratio",
        "node_compile_failures_per_minute",
        "node_compile_cache_misses_per_minute",
        "agent_spool_bytes",
        "efa_fallback_to_tcp_per_minute",
        "efa_retransmits_per_minute",
        "efa_transmit_bytes_per_minute",
        "job_cost_usd_per_hour",
        "job_crash_looping",
        "job_hung",
        "job_idle",
        "job_non_finite_loss_per_minute",
        "job_waiting",
        "job_running_core_utilization_ratio",
        "job_running_tensor_engine_utilization_ratio",
        "job_slowest_core_utilization_ratio",
        "job_wasted_usd_per_hour",
    )
)
# Rules ask of each of these what the newest minute says; of other states whether there was a minute of it.
_TOLD_WHEN_OVER: Final = frozenset({NodeState.BLIND, NodeState.COMPILING, NodeState.NO_JOB})
# Of the one a rule asks the state as well, which says when it is over; the other lasts over gaps between two starts.
_TOLD_WHEN_TRUE: Final = frozenset({f"{PREFIX}_node_nodes_unused", f"{PREFIX}_job_crash_looping"})
_ZERO_MEANS_SOMETHING: Final = f"{PREFIX}_efa_"
_BY_PART: Final = (f"{PREFIX}_core_", f"{PREFIX}_device_")


def pushed_name(family: Family) -> str:
    """A count is a gauge of one minute over OTLP, and is called so."""
    return f"{family.name}_per_minute" if family.shape is Shape.COUNT else family.name


def pushed(families: Iterable[Family], level: Level) -> Iterator[Family]:
    """Those of ``families`` that a node pushes; constants that only say something never are."""
    for family in families:
        if family.shape is Shape.INFO or (level is not Level.CORES and family.name.startswith(_BY_PART)):
            continue
        if level is not Level.RULES:
            yield family
        elif pushed_name(family) in READ_BY_RULES:
            points = tuple(each for each in family.points if _tells(family, each))
            yield replace(family, points=points)


def minutes_of_counts(families: Iterable[Family]) -> Iterator[Family]:
    """The counts that rules read as gauges of the minute, so that the same rules hold where counters are scraped."""
    for family in families:
        if family.shape is Shape.COUNT and pushed_name(family) in READ_BY_RULES:
            yield replace(
                family, name=pushed_name(family), shape=Shape.GAUGE, help=f"{family.help}, in the last minute"
            )


def _tells(family: Family, each: Point) -> bool:
    if family.shape is Shape.STATES:
        return each.value == 1 or each.labels[0] in _TOLD_WHEN_OVER
    is_left_out_at_zero = family.shape is Shape.COUNT or family.name in _TOLD_WHEN_TRUE
    return not is_left_out_at_zero or each.value != 0 or family.name.startswith(_ZERO_MEANS_SOMETHING)
