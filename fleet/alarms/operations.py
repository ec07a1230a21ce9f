"""Does the platform's own machinery work: pager, Capacity Block engine, capacity watch, prices, ledger, budgets.

One set per environment. None of these looks at a node, so none is paid for by the size of a fleet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fleet import naming, operations_metrics
from fleet.alarms.specs import AlarmSpec, Comparison, MetricRef, Severity, Silence
from fleet.operations_metrics import OperationsMetric

# Two functions are woken every minute: one lost tick is nothing, five looks in a row are no accident.
PROBLEM_LOOKS: Final = 5
SILENT_MINUTES: Final = 10
# The roll-up is woken every hour, and makes up for an hour that it missed.
PROBLEM_HOURS: Final = 3
SILENT_HOURS: Final = 4

PAGER: Final = "pager"
CAPACITY_BLOCKS: Final = "capacity-blocks"
CAPACITY_WATCH: Final = "capacity-watch"
PRECOMPILE: Final = "precompile"
PRICES: Final = "prices"
COST_REPORT: Final = "cost-report"
BUDGETS: Final = "budgets"


@dataclass(frozen=True, slots=True)
class _Clockwork:
    """A function that looks by the clock and counts its problems each time, if there were none as 0.

    ``problem_looks`` of the last minutes (M, N) with a problem are a ticket, and so are minutes of ``silent_minutes``.
    """

    key: str
    function: str
    words: str
    problems: OperationsMetric
    problem: str
    silence: str
    problem_looks: tuple[int, int] = (PROBLEM_LOOKS, PROBLEM_LOOKS)
    silent_minutes: int = SILENT_MINUTES


_ENGINE: Final = _Clockwork(
    key="CapacityBlockEngine",
    function=CAPACITY_BLOCKS,
    words="the Capacity Block engine",
    problems=operations_metrics.CAPACITY_BLOCK_PROBLEMS,
    problem="Something could not be done for a Capacity Block at five looks in a row.",
    silence="Nobody has looked after the Capacity Blocks for ten minutes: no checkpoint signal, no drain.",
)
_WATCH: Final = _Clockwork(
    key="CapacityWatch",
    function=CAPACITY_WATCH,
    words="the capacity watch",
    problems=operations_metrics.CAPACITY_WATCH_PROBLEMS,
    problem="At five looks in a row the capacity of a fleet could not be seen or provided for, or a reservation was "
    "billed that no fleet has any more.",
    silence="Nobody has looked at the fleets' capacity for ten minutes; the capacity alarms keep their state.",
)
_POOL: Final = _Clockwork(
    key="PoolController",
    function=POOL,
    words="the pools' controller",
    problems=operations_metrics.POOL_PROBLEMS,
    problem="At five looks in a row a pool could not be seen, or a job or a node of it could not be looked after.",
    silence="Nobody has looked after the pools for ten minutes: no job starts, and no node is drained or replaced.",
)
# A page of one of these has no nodes, jobs or dollars to tell of.
KEYS: Final = frozenset(
    {"PagerUndelivered", "PriceRefreshProblems", "PriceRefreshUnhandled", "BudgetForecast", "BudgetsUnhandled"}
    | {f"{of.key}{trouble}" for of in (_ENGINE, _WATCH, _LEDGER) for trouble in ("Problems", "Silent", "Unhandled")}
)


def platform_alarms(
    environment: str, *, has_block_engine: bool, forecast_percent: float | None = None
) -> tuple[AlarmSpec, ...]:
    """The alarms of an environment's machinery; the engine's only where there is one.

    ``forecast_percent`` of a budget is too much; None without budgets.
    """
    clockworks = [_WATCH, _LEDGER, *([_ENGINE] if has_block_engine else [])]
    return (
        _undelivered(environment),
        *(alarm for clockwork in clockworks for alarm in _alarms(environment, clockwork)),
        *_prices(environment),
        *_budgets(environment, forecast_percent),
    )


def _prices(environment: str) -> Sequence[AlarmSpec]:
    """That it is not woken at all shows in time, as PriceStale of a fleet."""
    problems = AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key="PriceRefreshProblems",
        severity=Severity.TICKET,
        summary="Prices could not be refreshed, or changed so much that they were kept apart.",
        action="Read in the function's log which; look a wild price up and accept it with fleet prices accept.",
        metric=_metric(environment, operations_metrics.PRICE_PROBLEMS, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=(1, 1),
        # It speaks once a day: what it said lasts until it speaks again.
        silence=Silence.KEEP,
    )
    unhandled = _waiting(
        environment,
        PRICES,
        key="PriceRefreshUnhandled",
        severity=Severity.TICKET,
        summary="No price at all could be refreshed, three times over.",
        action="Read the function's log; most often a permission is missing, or AWS's price lists do not answer.",
    )
    return problems, unhandled


def _budgets(environment: str, forecast_percent: float | None) -> Sequence[AlarmSpec]:
    """That it is not woken at all shows as a day without its digest; AWS's own budgets do not depend on it."""
    unhandled = waiting(
        environment,
        BUDGETS,
        key="BudgetsUnhandled",
        severity=Severity.TICKET,
        summary="Budgets could not be looked at, or a stop could not be carried out, three times over.",
        action="Read the function's log; it looks again every hour, so an old message may be settled by now.",
    )
    if forecast_percent is None:
        return (unhandled,)
    forecast = AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key="BudgetForecast",
        severity=Severity.TICKET,
        summary=f"At the present rate the month comes to more than {forecast_percent:g} % of a budget.",
        action="See whose with fleet budget status; end what nobody needs, or raise the budget in the file.",
        metric=_metric(environment, operations_metrics.BUDGET_FORECAST_PERCENT, "Maximum"),
        comparison=Comparison.ABOVE,
        threshold=forecast_percent,
        datapoints=(1, 1),
        # It speaks once an hour: what it said lasts until it speaks again.
        silence=Silence.KEEP,
    )
    return forecast, unhandled


def _alarms(environment: str, of: _Clockwork) -> Sequence[AlarmSpec]:
    return (_problems(environment, of), _silent(environment, of), _unhandled(environment, of))


def _problems(environment: str, of: _Clockwork) -> AlarmSpec:
    return AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key=f"{of.key}Problems",
        severity=Severity.TICKET,
        summary=of.problem,
        action=f"Read what {of.words} says was not done, in its log; most often a permission or a limit is missing.",
        # A minute in which a second look went well is a minute in which it was done.
        metric=_metric(environment, of.problems, "Minimum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=of.problem_looks,
        # Silence is the next alarm's.
        silence=Silence.NOT_BREACHING,
    )


def _silent(environment: str, of: _Clockwork) -> AlarmSpec:
    return AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key=f"{of.key}Silent",
        severity=Severity.TICKET,
        summary=of.silence,
        action=f"See whether the clock of {of.words} still ticks, and what the function's log ends with.",
        metric=_metric(environment, of.problems, "Maximum"),
        comparison=Comparison.BELOW,
        # No count is below zero: it is the silence that breaches, and nothing else.
        threshold=0,
        datapoints=(of.silent_minutes, of.silent_minutes),
        silence=Silence.BREACHING,
    )


def _unhandled(environment: str, of: _Clockwork) -> AlarmSpec:
    return waiting(
        environment,
        of.function,
        key=f"{of.key}Unhandled",
        severity=Severity.TICKET,
        summary=f"Events on which {of.words} failed lie in its dead-letter queue.",
        action="Read the function's log at the time of the oldest event, repair the cause, then empty the queue.",
    )


def _undelivered(environment: str) -> AlarmSpec:
    return waiting(
        environment,
        PAGER,
        key="PagerUndelivered",
        # What lies there may have been a page, and the queue does not say.
        severity=Severity.PAGE,
        summary="Pages or tickets could not be delivered and lie in the pager's dead-letter queue.",
        action="Read the queue's messages as the pages that they are; then repair the destination that refused them.",
        past_the_pager=True,
    )


def waiting(  # noqa: PLR0913  an alarm's own fields, all named
    environment: str,
    function: str,
    *,
    key: str,
    severity: Severity,
    summary: str,
    action: str,
    past_the_pager: bool = False,
) -> AlarmSpec:
    """Something lies in a function's dead-letter queue."""
    queue = (("QueueName", naming.dead_letter_queue(environment, function)),)
    return AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key=key,
        severity=severity,
        summary=summary,
        action=action,
        metric=MetricRef("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", queue),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=(1, 1),
        # SQS stops to report a queue that nothing has touched for hours, and its messages still lie there (SQS
        # Developer Guide, "Available CloudWatch metrics for Amazon SQS").
        silence=Silence.KEEP,
        past_the_pager=past_the_pager,
    )


def _metric(environment: str, metric: OperationsMetric, statistic: str) -> MetricRef:
    dimensions = ((operations_metrics.ENVIRONMENT, environment),)
    return MetricRef(operations_metrics.NAMESPACE, metric.name, statistic, dimensions)
