"""Does the platform's own machinery work: pager, Capacity Block engine, capacity watch, prices, ledger, budgets.

One set per environment. None of these looks at a node, so none is paid for by the size of a fleet.
"""

from collections.abc import Sequence
from typing import Final

from fleet import naming, operations_metrics
from fleet.alarms.clockworks import ENGINE, LEDGER, POOLS, WATCH, clockwork_alarms
from fleet.alarms.clockworks import KEYS as CLOCKWORK_KEYS
from fleet.alarms.functions import BUDGETS, PAGER, PRICES, ROLLOUT, measured, waiting
from fleet.alarms.specs import AlarmSpec, Comparison, MetricRef, Severity, Silence

# By then a destination has refused a first delivery and three more tries, which is no hiccup.
DELAYED_SECONDS: Final = 600


# A page of one of these has no nodes, jobs or dollars to tell of.
KEYS: Final = CLOCKWORK_KEYS | {
    *("PagerDelayed", "PagerUndelivered", "PriceRefreshProblems", "PriceRefreshUnhandled"),
    *("BudgetForecast", "BudgetsUnhandled", "RolloutUnhandled", "RolloutNotDone"),
}


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
        *(alarm for clockwork in looking for alarm in clockwork_alarms(environment, clockwork)),
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
            # Requests may go to a version that nobody looks at any more.
            severity=Severity.PAGE,
            summary="The execution that drives a rollout has failed: requests may be shared, and nothing judges them.",
            action="See what serves with `fleet rollout status`, then resume or abort it; both start a new execution.",
        ),
        AlarmSpec(
            environment=environment,
            subject=naming.PLATFORM,
            key="RolloutNotDone",
            severity=Severity.TICKET,
            summary="A rollout has ended, and the new version does not serve as it should: rolled back, or held.",
            action="Read why with `fleet rollout status`; nothing is in a hurry unless it is held: "
            "then it has no side to go back to, and its nodes do not follow the load, until you resume or abort it.",
            metric=measured(environment, operations_metrics.ROLLOUTS_NOT_DONE, "Maximum"),
            comparison=Comparison.AT_LEAST,
            threshold=1,
            datapoints=(1, 1),
            silence=Silence.NOT_BREACHING,
        ),
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
        metric=measured(environment, operations_metrics.PRICE_PROBLEMS, "Maximum"),
        comparison=Comparison.AT_LEAST,
        threshold=1,
        datapoints=(1, 1),
        # It speaks once a day: what it said lasts until it speaks again.
        silence=Silence.KEEP,
    )
    unhandled = waiting(
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
        metric=measured(environment, operations_metrics.BUDGET_FORECAST_PERCENT, "Maximum"),
        comparison=Comparison.ABOVE,
        threshold=forecast_percent,
        datapoints=(1, 1),
        # It speaks once an hour: what it said lasts until it speaks again.
        silence=Silence.KEEP,
    )
    return forecast, unhandled


def _delayed(environment: str) -> AlarmSpec:
    queue = (("QueueName", naming.waiting_queue(environment, PAGER)),)
    return AlarmSpec(
        environment=environment,
        subject=naming.PLATFORM,
        key="PagerDelayed",
        severity=Severity.PAGE,
        summary="A page or a ticket has waited ten minutes for a destination that does not take it.",
        action="See which alarms fire, for one may be waiting; then read in the pager's log who refuses, and mend it.",
        metric=MetricRef("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", queue),
        comparison=Comparison.AT_LEAST,
        threshold=DELAYED_SECONDS,
        datapoints=(1, 1),
        silence=Silence.NOT_BREACHING,
        past_the_pager=True,
    )


def _undelivered(environment: str) -> AlarmSpec:
    return waiting(
        environment,
        PAGER,
        key="PagerUndelivered",
        # What lies there may have been a page, and the queue does not say.
        severity=Severity.PAGE,
        summary="Pages or tickets could not be delivered and lie in the pager's dead-letter queue.",
        action="See which alarms fire, for one may lie there; then read the queue, and repair what refused it.",
        past_the_pager=True,
    )
