"""Alarms of money that burns with nothing done: nodes without a job over a whole fleet, and jobs that start in vain."""

from collections.abc import Sequence

from fleet.alarms.burning import crash_loop, without_job_alarms
from fleet.alarms.contributors.expressions import Series
from fleet.alarms.contributors.jobs import JOB
from fleet.alarms.idle import SMALLEST_FLOOR, TICKET_MINUTES
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import ContributorSpec


def burning_alarms(settings: AlarmSettings) -> Sequence[ContributorSpec]:
    """Those of a fleet that trains: an endpoint's nodes have no jobs."""
    return () if settings.purpose == "inference" else (*_without_job(settings), _crash_loop(settings))


def _without_job(settings: AlarmSettings) -> Sequence[ContributorSpec]:
    """The page and, below its floor, the ticket; of what is paid in advance one ticket."""
    classic = {spec.key: spec for spec in without_job_alarms(settings)}
    floor = max(0.0 if settings.is_reserved else settings.thresholds.burning_floor, SMALLEST_FLOOR)
    burnt = f"sum by (fleet) ({_burnt(Series.of(settings), floor)})"
    page = ContributorSpec.in_place_of(
        classic["NodesWithoutJob"],
        expression=f"{burnt} >= {floor:g}",
        contributor=("fleet",),
        pending_minutes=3,
        recovery_minutes=5,
        reason="The node has counted half an hour or more already; nodes that are let go one after the other are one "
        "incident.",
    )
    if "WithoutJobBelowFloor" not in classic:
        return (page,)
    ticket = ContributorSpec.in_place_of(
        classic["WithoutJobBelowFloor"],
        expression=f"{burnt} < {floor:g}",
        contributor=("fleet",),
        pending_minutes=TICKET_MINUTES,
        recovery_minutes=15,
        reason="What waits for the morning need not be told of in the first hour.",
    )
    return page, ticket


def _burnt(series: Series, unpriced: float) -> str:
    """Dollars an hour of each node that has had no job for too long, and has none now."""
    unused = f"{series.last('node_nodes_unused')} == 1 and on (fleet, node) {series.without_a_job()}"
    priced = f"{series.last('node_cost_usd_per_hour')} and on (fleet, node) ({unused})"
    return f"({priced}) or on (fleet, node) {unpriced:g} * ({unused})"


def _crash_loop(settings: AlarmSettings) -> ContributorSpec:
    series, floor = Series.of(settings), max(settings.thresholds.burning_floor, SMALLEST_FLOOR)
    # Between two starts the job is not on the node: what was said of it last holds.
    loops = f"{series.most('job_crash_looping')} == 1"
    priced = f"{series.last('job_cost_usd_per_hour')} and on (fleet, node, job) ({loops})"
    usd = f"({priced}) or on (fleet, node, job) {floor:g} * ({loops})"
    return ContributorSpec.in_place_of(
        crash_loop(settings),
        expression=f"sum by (fleet, job, owner) ({usd}) >= {floor:g}",
        contributor=JOB,
        pending_minutes=3,
        recovery_minutes=15,
        reason="The node has counted three runs already; one loop of starts and gaps is one incident.",
    )
