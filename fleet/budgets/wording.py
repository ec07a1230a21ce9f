"""What people read of budgets, stops and waste: one short text each, every dollar with its price's kind and date."""

from collections.abc import Sequence
from datetime import date

from fleet.budgets.spending import Spending
from fleet.budgets.stop import Standing, Stop
from fleet.budgets.waste import Day, Waste
from fleet.ledger.amounts import PER_USD
from fleet.prices.wording import amount

# Slack takes 3,000 characters of a section; what is left out is added up.
_ROWS = 12
_LONGEST_NAME = 40


def digest(environment: str, day: date, waste: Day) -> tuple[str, str]:
    """The subject and the text of the daily digest."""
    share = f" of {_usd(waste.paid)} ({100 * waste.amount / waste.paid:.0f} %)" if waste.paid else ""
    subject = f"{environment}: {_usd(waste.amount)}{share} wasted on {day}"
    kinds = ", ".join(f"{kind} {_usd(lost)}" for kind, lost in waste.by_kind().items())
    lines = [f"By kind: {kinds}." if kinds else "Nothing was wasted that the ledger knows of."]
    lines += [f"{place}. {_row(each)}" for place, each in enumerate(waste.wastes[:_ROWS], start=1)]
    rest = waste.wastes[_ROWS:]
    if rest:
        lines.append(f"and {len(rest)} more with {_usd(sum(each.amount for each in rest))}")
    if waste.unpriced_node_hours:
        lines.append(f"{waste.unpriced_node_hours:,.1f} node-hours without a known price are in no dollar here.")
    lines.append(f"Prices: {told(waste.prices)}. Nodes and reservations only.")
    lines.append(f"More: fleet ledger {environment} --by job")
    return subject, "\n".join(lines)


def no_digest(environment: str, day: date) -> tuple[str, str]:
    """What is said of a day without a ledger: that nothing was wasted is not known."""
    subject = f"{environment}: what was wasted on {day} is not known"
    return subject, "The day has no ledger. The alarms LedgerSilent and LedgerProblems, and their runbooks, say why."


def question(environment: str, spent: Spending, stopping: Sequence[str]) -> tuple[str, str]:
    """The approvers are asked."""
    subject = f"{environment}: the month's budget is used up. Stop {', '.join(stopping)}?"
    text = (
        f"{progress(spent)}\nStop: fleet budget approve {environment}. Go on until the month ends: fleet budget resume "
        f"{environment}. Until somebody answers, nothing changes.\n{_MEANING}"
    )
    return subject, text


def stopped(environment: str, stop: Stop, spent: Spending, closed: Sequence[str]) -> tuple[str, str]:
    """It is stopped."""
    subject = f"{environment}: stopped by its budget: {', '.join(closed) or 'nothing'}"
    who = f"{stop.by} approved it." if stop.by else "The file says stop: auto."
    return subject, f"{progress(spent)}\n{who} {_MEANING}\nGo on: fleet budget resume {environment}"


def opened(environment: str, stop: Stop, fleets: Sequence[str]) -> tuple[str, str]:
    """It goes on."""
    why = f"{stop.by} said so" if stop.standing is Standing.RESUMED else "the budget is not used up any more"
    text = "Their queues take jobs again, and what waited in them goes on."
    return f"{environment}: {', '.join(fleets)} may run again", f"Because {why}. {text}"


def progress(spent: Spending) -> str:
    """Where a budget stands."""
    whose = f"owner {spent.owner}" if spent.owner else "all owners"
    text = f"{whose}: {amount(spent.spent_usd)} of {amount(spent.budget_usd)} USD spent this month"
    if spent.forecast_percent is not None:
        text += f", {amount(spent.forecast_usd)} ({spent.forecast_percent:.0f} %) by its end"
        text += f" at {amount(spent.rate_usd_per_hour)} an hour"
    else:
        text += ", the present rate is not known"
    text += f"; prices: {told(spent.prices)}"
    if spent.unpriced_node_hours:
        text += f"; at least, for {spent.unpriced_node_hours:,.1f} node-hours have no known price"
    if spent.days_missing:
        text += f"; at least, for {len(spent.days_missing)} days have no ledger"
    return text


def told(prices: Sequence[tuple[str, str]]) -> str:
    """Kinds and dates."""
    return "; ".join(f"{kind}, as of {as_of}" for kind, as_of in prices) or "none is known"


_MEANING = (
    "A stop closes the queues of on-demand and Spot training fleets: running jobs end by themselves, their nodes go "
    "when idle, waiting jobs wait. Reservations, Capacity Blocks and endpoints are not touched."
)


def _row(waste: Waste) -> str:
    kinds = ", ".join(f"{kind} {_usd(lost)}" for kind, lost in waste.amounts.items())
    return f"{_usd(waste.amount)}: {_short(waste.owner)}, {_short(waste.job or 'no job')} on {waste.fleet}: {kinds}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _usd(lost: int) -> str:
    return f"{amount(lost / PER_USD)} USD"
