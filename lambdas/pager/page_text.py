"""The text of a page: what all destinations say, before either gives it its own shape. Pure."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from fleet.hardware_errors import Action
from fleet.node_state import NodeState
from fleet.prices.wording import UNKNOWN, amount, rate
from lambdas.pager import capacity, metric_queries
from lambdas.pager.evidence import Node
from lambdas.pager.outside_text import NAME, inert, one_line, own_words
from lambdas.pager.page import Page

NODES_SHOWN: Final = 5
_CENT: Final = 0.01
INTERVALS_SHOWN: Final = 4
ERRORS_SHOWN: Final = 4
REASON_SHOWN: Final = 200
WHAT_SHOWN: Final = 40
STRONGER_LATER: Final = tuple(action.value for action in Action)
_INSTANCE: Final = re.compile(r"i-[0-9a-f]+")
_ARN: Final = re.compile(r"arn:[^:\s]+:cloudwatch:[^:\s]*:[^:\s]*:alarm:")


def title(page: Page) -> str:
    """Severity, environment/fleet, what is wrong, since when; a test says that it is one."""
    return f"TEST {_title(page)}" if page.is_test else _title(page)


def subject(page: Page) -> str:
    """Environment and fleet, or the environment and the alarm's own name."""
    return inert(page.subject, NAME)


def what(page: Page) -> str:
    """What is wrong, in a few words."""
    return inert(page.what, WHAT_SHOWN)


def _title(page: Page) -> str:
    if page.is_resolved:
        opened = page.incident.opened_at
        lasted = f" after {duration(page.change.changed_at - opened)}" if opened else ""
        return f"RESOLVED {subject(page)}: {what(page)}{lasted}"
    over = " (already over)" if page.incident.is_over else ""
    return f"{page.severity.upper()} {subject(page)}: {what(page)} since {clock(page.since)}{over}"


def summary(page: Page) -> str:
    """What is wrong."""
    return own_words(page.alarm.summary)


def action(page: Page) -> str:
    """What a person should do first: what the capacity watch says, else the alarm."""
    if page.capacity and page.capacity.action:
        return own_words(page.capacity.action)
    return own_words(page.alarm.action)


def first_command(page: Page) -> str | None:
    """What to type first: the alarm's own, else a session on the worst node; None where only the runbook can say it."""
    region = page.change.region
    if page.alarm.first_command is not None:
        return page.alarm.first_command.replace("{region}", region)
    worst = page.evidence.nodes[0].last.node if page.evidence and page.evidence.nodes else ""
    return f"aws ssm start-session --region {region} --target {worst}" if _INSTANCE.fullmatch(worst) else None


def money(page: Page) -> str | None:
    """Dollars an hour and since the breach, with the price behind them; None when no event says it."""
    text = capacity.money(page.capacity) if page.capacity else _money(page)
    return inert(text) if text else None


def _money(page: Page) -> str | None:
    evidence = page.evidence
    if evidence is None or evidence.usd_per_hour is None or evidence.usd_per_hour < _CENT:
        # That an endpoint which refuses its users wastes nothing is no news to whoever is woken for it.
        return None
    # What a node does that nobody sees may be good work, so its dollars are not called wasted.
    text = f"${amount(evidence.usd_per_hour)} an hour {'unwatched' if evidence.is_unwatched else 'wasted'}"
    if evidence.usd_since is not None and evidence.began is not None:
        text += f", ${amount(evidence.usd_since)} since {clock(evidence.began)}"
    return f"{text} ({rate(evidence.price, page.change.changed_at.date()) if evidence.price else UNKNOWN})"


def numbers(page: Page) -> str | None:
    """CloudWatch's own words for what crossed; a composite alarm names its children, here without their ARNs."""
    return inert(_ARN.sub("", page.change.reason)) or None


def facts(page: Page) -> list[tuple[str, str]]:
    """What is known, each with its name: why, whose, how many dollars, which numbers."""
    named = [
        *capacity.facts(page.capacity).items(),
        ("About", about(page)),
        ("Job", jobs(page)),
        ("Money", money(page)),
        ("Changes", metric_queries.wording(page.changes, page.change.changed_at)),
        ("Numbers", numbers(page)),
    ]
    return [(name, text) for name, text in named if text]


def about(page: Page) -> str | None:
    """Which job or node, where the alarm follows each: ``node i-0a1b2c``."""
    named = page.change.attributes
    labels = page.alarm.contributor or tuple(sorted(named))
    pairs = (f"{one_line(label, NAME)} {one_line(named[label], NAME)}" for label in labels if label in named)
    return inert(", ".join(pairs)) or None


def jobs(page: Page) -> str | None:
    """Job and owner, worst node's first."""
    if not page.evidence or not page.evidence.jobs:
        return None
    shown = page.evidence.jobs[:NODES_SHOWN]
    return "; ".join(inert(f"{one_line(job, 2 * NAME)}, owner {one_line(owner, NAME)}") for job, owner in shown)


def missing(page: Page) -> str:
    """Why less is known than there is, if it is."""
    return inert(page.enrichment_problem or "")


def node_lines(page: Page) -> Iterator[str]:
    """One line for each of the worst nodes, then how many more there are."""
    nodes = page.evidence.nodes if page.evidence else ()
    for node in nodes[:NODES_SHOWN]:
        yield inert(_node_line(page, node))
    if len(nodes) > NODES_SHOWN:
        yield f"and {len(nodes) - NODES_SHOWN} more"


def _own_price(page: Page, node: Node) -> str:
    told, own = page.evidence.price if page.evidence else None, node.last.price
    return "" if own is None or own == told else f" ({rate(own, page.change.changed_at.date())})"


def _node_line(page: Page, node: Node) -> str:
    facts = [one_line(node.last.instance_type, NAME)] if node.last.instance_type else []
    if not node.is_silent:
        facts += _utilization(node)
    if node.usd_per_hour is not None:
        # Its price stands in the line of the dollars, by kind and date, or in its own where it is another one.
        facts.append(f"${amount(node.usd_per_hour)}/h{_own_price(page, node)}")
    facts += _errors(node)
    text = f"{one_line(node.last.node, NAME)}: {', '.join([*facts, _timeline(node)])}"
    is_unsaid = node.is_silent or (node.state == NodeState.FAULT and not node.errors)
    return (
        f"{text} ({one_line(node.last.state_reason, REASON_SHOWN)})" if is_unsaid and node.last.state_reason else text
    )


def _utilization(node: Node) -> Iterator[str]:
    if node.last.tensor_engine_utilization is not None:
        yield f"tensor engines {node.last.tensor_engine_utilization:.0f} %"
    if node.last.neuron_core_utilization is not None:
        yield f"cores busy {node.last.neuron_core_utilization:.0f} %"


def _errors(node: Node) -> Iterator[str]:
    """The errors, and the one thing to do: the strongest of their actions."""
    if not node.errors:
        return
    worst_first = sorted(node.errors, key=lambda error: -_rank(error.action))
    names = [
        f"{one_line(each.kind, NAME)}{'' if each.device is None else f' on device {each.device}'}"
        for each in worst_first
    ]
    shown = names[:ERRORS_SHOWN] + ([f"{len(names) - ERRORS_SHOWN} more"] if len(names) > ERRORS_SHOWN else [])
    yield f"{' and '.join(shown)}: {_remedy(worst_first[0].action)}"


def _remedy(action: str) -> str:
    return "look at the node's peers" if action == Action.LOOK_AT_PEERS else f"{one_line(action, NAME)} the node"


def _rank(action: str) -> int:
    return STRONGER_LATER.index(action) if action in STRONGER_LATER else -1


def _timeline(node: Node) -> str:
    """States and since when; the first one of the window began before it, so it has no time."""
    times = {each: f"{one_line(each.state, NAME)} {each.start.astimezone(UTC):%H:%M}" for each in node.intervals[1:]}
    return " → ".join(times.get(each, one_line(each.state, NAME)) for each in node.intervals[-INTERVALS_SHOWN:])


def clock(moment: datetime) -> str:
    """``2026-11-21 03:41 UTC``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def duration(span: timedelta) -> str:
    """``1 h 05 min``."""
    hours, minutes = divmod(max(0, int(span.total_seconds())) // 60, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
