"""The functions behind the platform, by their names, and what alarms read of one: its metrics, its dead letters.

Some are woken by the clock, to look again and again. Of each of those it is asked whether it looks, whether it goes
well, and whether an event stayed unhandled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fleet import naming, operations_metrics
from fleet.alarms.metric_refs import MetricRef
from fleet.alarms.settings import platform
from fleet.alarms.specs import AlarmSpec, Comparison, Severity, TreatMissingData
from fleet.lateness import lasting_of_one
from fleet.operations_metrics import OperationsMetric

PAGER: Final = "pager"
CAPACITY_BLOCKS: Final = "capacity-blocks"
CAPACITY_WATCH: Final = "capacity-watch"
PRECOMPILE: Final = "precompile"
PRICES: Final = "prices"
COST_REPORT: Final = "cost-report"
POOL: Final = "pool"
ROLLOUT: Final = "rollout"
BUDGETS: Final = "budgets"

# Two functions are woken every minute: one lost tick is nothing, five looks of eight are no accident.
PROBLEM_LOOKS: Final = 5
SILENT_MINUTES: Final = 10
# The roll-up is woken every hour, and makes up for an hour that it missed.
PROBLEM_HOURS: Final = 3
SILENT_HOURS: Final = 4


def waiting(  # noqa: PLR0913  an alarm's own fields, all named
    environment: str,
    function: str,
    *,
    key: str,
    title: str,
    severity: Severity,
    summary: str,
    action: str,
    first_command: str | None = None,
    bypass_pager: bool = False,
) -> AlarmSpec:
    """Something lies in a function's dead-letter queue."""
    queue = (("QueueName", naming.dead_letter_queue(environment, function)),)
    return platform(environment).alarm(
        severity,
        key,
        title=title,
        summary=summary,
        action=action,
        first_command=first_command,
        metric=MetricRef("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", queue),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=lasting_of_one(1),
        # SQS stops to report a queue that nothing has touched for hours, and its messages still lie there (SQS
        # Developer Guide, "Available CloudWatch metrics for Amazon SQS").
        silence=TreatMissingData.KEEP,
        bypass_pager=bypass_pager,
    )


def measured(environment: str, metric: OperationsMetric, statistic: str) -> MetricRef:
    """A metric of the platform's own."""
    dimensions = ((operations_metrics.ENVIRONMENT, environment),)
    return MetricRef(operations_metrics.NAMESPACE, metric.name, statistic, dimensions)


@dataclass(frozen=True, slots=True)
class ScheduledFunction:
    """A function that looks by the clock and counts its problems each time, if there were none as 0.

    ``problem_looks`` of the last minutes (M, N) with a problem are a ticket, and so are minutes of ``silent_minutes``.
    """

    key: str
    title: str
    function: str
    words: str
    problems: OperationsMetric
    problem: str
    silence: str
    problem_looks: tuple[int, int] = lasting_of_one(PROBLEM_LOOKS)
    silent_minutes: int = SILENT_MINUTES


ENGINE: Final = ScheduledFunction(
    key="CapacityBlockEngine",
    title="Capacity Block engine",
    function=CAPACITY_BLOCKS,
    words="the Capacity Block engine",
    problems=operations_metrics.CAPACITY_BLOCK_PROBLEMS,
    problem="Something could not be done for a Capacity Block at five of eight looks.",
    silence="Nobody has looked after the Capacity Blocks for ten minutes: no checkpoint signal, no drain.",
)
WATCH: Final = ScheduledFunction(
    key="CapacityWatch",
    title="Capacity watch",
    function=CAPACITY_WATCH,
    words="the capacity watch",
    problems=operations_metrics.CAPACITY_WATCH_PROBLEMS,
    problem="At five of eight looks the capacity of a fleet could not be seen or provided for, or a reservation was "
    "billed that no fleet has any more.",
    silence="Nobody has looked at the fleets' capacity for ten minutes; the capacity alarms keep their state.",
)
LEDGER: Final = ScheduledFunction(
    key="Ledger",
    title="Ledger",
    function=COST_REPORT,
    words="the ledger's roll-up",
    problems=operations_metrics.LEDGER_PROBLEMS,
    problem="Three hours in a row something could not be booked in the ledger, or not be held against the bill.",
    silence="The ledger was not rolled up for four hours; what arrives is kept, and booked when it runs again.",
    problem_looks=(PROBLEM_HOURS, PROBLEM_HOURS * 60),
    silent_minutes=SILENT_HOURS * 60,
)
POOLS: Final = ScheduledFunction(
    key="PoolController",
    title="Pool controller",
    function=POOL,
    words="the pools' controller",
    problems=operations_metrics.POOL_PROBLEMS,
    problem="At five of eight looks a pool could not be seen, or a job or a node of it could not be looked after.",
    silence="Nobody has looked after the pools for ten minutes: no job starts, and no node is drained or replaced.",
)


def scheduled_function_alarms(environment: str, of: ScheduledFunction) -> Sequence[AlarmSpec]:
    """The three alarms of one such function."""
    return (_problems(environment, of), _silent(environment, of), _unhandled(environment, of))


def _problems(environment: str, of: ScheduledFunction) -> AlarmSpec:
    return platform(environment).ticket(
        f"{of.key}Problems",
        title=f"{of.title} problems",
        summary=of.problem,
        action=f"Read what {of.words} says was not done, in its log; most often a permission or a limit is missing.",
        # A minute in which a second look went well is a minute in which it was done.
        metric=measured(environment, of.problems, "Minimum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=of.problem_looks,
        # Silence is the next alarm's.
        silence=TreatMissingData.NOT_BREACHING,
    )


def _silent(environment: str, of: ScheduledFunction) -> AlarmSpec:
    return platform(environment).ticket(
        f"{of.key}Silent",
        title=f"{of.title} silent",
        summary=of.silence,
        action=f"See whether the clock of {of.words} still ticks, and what the function's log ends with.",
        metric=measured(environment, of.problems, "Maximum"),
        comparison=Comparison.BELOW,
        # No count is below zero: it is the silence that breaches, and nothing else.
        threshold=0,
        datapoints=(of.silent_minutes, of.silent_minutes),
        silence=TreatMissingData.BREACHING,
    )


def _unhandled(environment: str, of: ScheduledFunction) -> AlarmSpec:
    return waiting(
        environment,
        of.function,
        key=f"{of.key}Unhandled",
        title=f"{of.title} unhandled",
        severity=Severity.TICKET,
        summary=f"Events on which {of.words} failed lie in its dead-letter queue.",
        action="Read the function's log at the time of the oldest event, repair the cause, then empty the queue.",
    )
