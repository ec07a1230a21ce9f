"""Does the platform's own machinery work: pager, Capacity Block engine, capacity watch, prices, ledger, budgets, bill.

One set per environment. None of these looks at a node, so none is paid for by the size of a fleet.
"""

from collections.abc import Sequence
from typing import Final

from fleet import naming, operations_metrics
from fleet.alarms.functions import (
    BUDGETS,
    ENGINE,
    LEDGER,
    PAGER,
    POOLS,
    PRICES,
    ROLLOUT,
    WATCH,
    measured,
    scheduled_function_alarms,
    waiting,
)
from fleet.alarms.metric_refs import MetricRef
from fleet.alarms.settings import platform
from fleet.alarms.specs import AlarmSpec, Comparison, Severity, TreatMissingData
from fleet.lateness import lasting_of_one

# By then a destination has refused a first delivery and three more tries, which is no hiccup.
DELAYED_SECONDS: Final = 600
_HOURS: Final = 3
# A small fleet may run this many short jobs in an hour; as many all month long cost some $40.
JOBS_AT_LEAST: Final = 10


def platform_alarms(
    environment: str,
    *,
    has_block_engine: bool,
    has_pools: bool,
    has_endpoints: bool = True,
    forecast_percent: float | None = None,
) -> tuple[AlarmSpec, ...]:
    """The alarms of an environment's machinery; those of the engine, pools and rollouts only where there are any.

    ``forecast_percent`` of a budget is too much; None without budgets.
    """
    looking = [WATCH, LEDGER, *([ENGINE] if has_block_engine else []), *([POOLS] if has_pools else [])]
    return (
        _delayed(environment),
        _undelivered(environment),
        *(alarm for scheduled in looking for alarm in scheduled_function_alarms(environment, scheduled)),
        *_prices(environment),
        *_budgets(environment, forecast_percent),
        *(_rollouts(environment) if has_endpoints else ()),
    )


def _rollouts(environment: str) -> tuple[AlarmSpec, ...]:
    return (
        waiting(
            environment,
            ROLLOUT,
            key="RolloutUnhandled",
            title="Rollout unhandled",
            # Requests may go to a version that nobody looks at any more.
            severity=Severity.PAGE,
            summary="The execution that drives a rollout has failed: requests may be shared, and nothing judges them.",
            action="See what serves with `fleet rollout status`, then resume or abort it; both start a new execution.",
            first_command=f"fleet rollout status {environment} FLEET",
        ),
        platform(environment).ticket(
            "RolloutNotDone",
            summary="A rollout has ended, and the new version does not serve as it should: rolled back, or held.",
            action="Read why with `fleet rollout status`; nothing is in a hurry unless it is held: "
            "then it has no side to go back to, and its nodes do not follow the load, until you resume or abort it.",
            metric=measured(environment, operations_metrics.ROLLOUTS_NOT_DONE, "Maximum"),
            comparison=Comparison.AT_LEAST,
            threshold=1,
            datapoints=lasting_of_one(1),
            silence=TreatMissingData.NOT_BREACHING,
        ),
    )


def _prices(environment: str) -> Sequence[AlarmSpec]:
    """That it is not woken at all shows in time, as PriceStale of a fleet."""
    problems = platform(environment).ticket(
        "PriceRefreshProblems",
        summary="Prices could not be refreshed, or changed so much that they were kept apart.",
        action="Read in the function's log which; look a wild price up and accept it with fleet prices accept.",
        metric=measured(environment, operations_metrics.PRICE_PROBLEMS, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=lasting_of_one(1),
        # It speaks once a day: what it said lasts until it speaks again.
        silence=TreatMissingData.KEEP,
    )
    unhandled = waiting(
        environment,
        PRICES,
        key="PriceRefreshUnhandled",
        title="Price refresh unhandled",
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
        title="Budgets unhandled",
        severity=Severity.TICKET,
        summary="Budgets could not be looked at, or a stop could not be carried out, three times over.",
        action="Read the function's log; it looks again every hour, so an old message may be settled by now.",
    )
    if forecast_percent is None:
        return (unhandled,)
    forecast = platform(environment).ticket(
        "BudgetForecast",
        summary=f"At the present rate the month comes to more than {forecast_percent:g} % of a budget.",
        action="See whose with fleet budget status; end what nobody needs, or raise the budget in the file.",
        metric=measured(environment, operations_metrics.BUDGET_FORECAST_PERCENT, "Maximum"),
        comparison=Comparison.ABOVE,
        threshold=forecast_percent,
        datapoints=lasting_of_one(1),
        # It speaks once an hour: what it said lasts until it speaks again.
        silence=TreatMissingData.KEEP,
    )
    return forecast, unhandled


def _firing(environment: str) -> str:
    """What was not delivered, or waits, is most likely one of these."""
    return (
        f"aws cloudwatch describe-alarms --region {{region}} --alarm-name-prefix {environment}/ --state-value ALARM "
        "--alarm-types MetricAlarm CompositeAlarm --query '[MetricAlarms,CompositeAlarms][].AlarmName'"
    )


def _delayed(environment: str) -> AlarmSpec:
    queue = (("QueueName", naming.waiting_queue(environment, PAGER)),)
    return platform(environment).page(
        "PagerDelayed",
        summary="A page or a ticket has waited ten minutes for a destination that does not take it.",
        action="See which alarms fire, for one may be waiting; then read in the pager's log who refuses, and mend it.",
        first_command=_firing(environment),
        metric=MetricRef("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", queue),
        comparison=Comparison.AT_LEAST,
        threshold=DELAYED_SECONDS,
        datapoints=lasting_of_one(1),
        silence=TreatMissingData.NOT_BREACHING,
        bypass_pager=True,
    )


def _undelivered(environment: str) -> AlarmSpec:
    return waiting(
        environment,
        PAGER,
        key="PagerUndelivered",
        title="Pager undelivered",
        # What lies there may have been a page, and the queue does not say.
        severity=Severity.PAGE,
        summary="Pages or tickets could not be delivered and lie in the pager's dead-letter queue.",
        action="See which alarms fire, for one may lie there; then read the queue, and repair what refused it.",
        first_command=_firing(environment),
        bypass_pager=True,
    )


def metrics_budget(environment: str, *, jobs_planned: int) -> AlarmSpec:
    """More jobs an hour than the plan prices at the most; ``jobs_planned`` are those of all fleets at once."""
    limit = max(JOBS_AT_LEAST, jobs_planned)
    return platform(environment).ticket(
        "MetricsBudget",
        summary=f"More than {limit} jobs an hour have metrics of their own, which is more than was planned for.",
        action="Find who starts so many job ids; let an array of short jobs share one, or plan for them.",
        metric=MetricRef(
            operations_metrics.NAMESPACE,
            operations_metrics.JOBS_WITH_METRICS.name,
            "Maximum",
            ((operations_metrics.ENVIRONMENT, environment),),
        ),
        comparison=Comparison.ABOVE,
        threshold=limit,
        # The ledger counts once an hour: three hours in a row, and not one busy morning.
        datapoints=(_HOURS, _HOURS * 60),
        # Minutes between two counts say nothing, and that the ledger is silent is LedgerSilent's.
        silence=TreatMissingData.NOT_BREACHING,
    )
