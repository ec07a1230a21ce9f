"""The page itself: what both destinations say, before either gives it its own shape. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from fleet import naming
from fleet.alarm_page import AlarmPage
from fleet.hardware_errors import Action
from fleet.node_state import NodeState
from fleet.prices.wording import UNKNOWN, amount, rate
from lambdas.pager import capacity as capacity_wording
from lambdas.pager import changes
from lambdas.pager.capacity import Capacity
from lambdas.pager.changes import Spell
from lambdas.pager.evidence import Evidence, Node
from lambdas.pager.first_command import first_command as command_of
from lambdas.pager.incident import Incident
from lambdas.pager.links import Links
from lambdas.pager.model import AlarmChange, Severity, State

NODES_SHOWN: Final = 5
_CENT: Final = 0.01
SPELLS_SHOWN: Final = 4
ERRORS_SHOWN: Final = 4
REASON_SHOWN: Final = 200
STRONGER_LATER: Final = tuple(action.value for action in Action)
_ARN: Final = re.compile(r"arn:[^:\s]+:cloudwatch:[^:\s]*:[^:\s]*:alarm:")


@dataclass(frozen=True, slots=True)
class Page:
    """One transition, ready to be told.

    At most one of ``evidence`` (of nodes) and ``capacity`` is there; ``enrichment_problem`` says why one is missing.
    ``known_since`` is the ALARM under which destinations know the incident; None when nothing could be remembered.
    """

    environment: str
    alarm: AlarmPage
    change: AlarmChange
    severity: Severity
    incident: Incident
    links: Links
    known_since: datetime | None = None
    evidence: Evidence | None = None
    capacity: Capacity | None = None
    changes: tuple[Spell, ...] | None = None
    enrichment_problem: str | None = None

    @property
    def is_resolved(self) -> bool:
        """Whether this is the good news."""
        return self.change.state is State.OK

    @property
    def since(self) -> datetime:
        """When it began: by the events, else when the incident was opened, else the transition."""
        told = self.evidence or self.capacity
        if told and told.began and not self.is_resolved:
            return told.began
        return self.incident.opened_at or self.change.changed_at

    @property
    def is_test(self) -> bool:
        """Whether somebody only wants to see that pages arrive."""
        return is_test(self.change)

    @property
    def owners(self) -> tuple[str, ...]:
        """Whose work is the cause, as far as the events say."""
        if self.capacity and self.capacity.newest.owner:
            return (self.capacity.newest.owner,)
        return self.evidence.owners if self.evidence else ()

    @property
    def dedup_key(self) -> str:
        """The incident's name at a destination: what opens it, closes it, and is folded into it has the same."""
        arn = self.change.arn
        return arn if self.known_since is None else f"{arn}#{milliseconds(self.known_since)}"

    @property
    def what(self) -> str:
        """What is wrong, in a few words: ``Low utilization``."""
        return self.alarm.title

    @property
    def subject(self) -> str:
        """``prod/trn1-pretrain``, or the environment and the alarm's own name."""
        split = naming.split_alarm_name(self.change.name)
        return f"{split[0]}/{split[1]}" if split else self.environment


def title(page: Page) -> str:
    """Severity, environment/fleet, what is wrong, since when; a test says that it is one."""
    return f"TEST {_title(page)}" if page.is_test else _title(page)


def _title(page: Page) -> str:
    if page.is_resolved:
        opened = page.incident.opened_at
        lasted = f" after {duration(page.change.changed_at - opened)}" if opened else ""
        return f"RESOLVED {page.subject}: {page.what}{lasted}"
    over = " (already over)" if page.incident.is_over else ""
    return f"{page.severity.upper()} {page.subject}: {page.what} since {clock(page.since)}{over}"


def summary(page: Page) -> str:
    """What is wrong."""
    return page.alarm.summary


def action(page: Page) -> str:
    """What a person should do first: what the capacity watch says, else the alarm."""
    return page.capacity.action if page.capacity and page.capacity.action else page.alarm.action


def first_command(page: Page) -> str | None:
    """What to type first."""
    return command_of(page.alarm, page.change, page.evidence)


def money(page: Page) -> str | None:
    """Dollars an hour and since the breach, with the price behind them; None when no event says it."""
    if page.capacity:
        return capacity_wording.money(page.capacity)
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
    return _ARN.sub("", page.change.reason) or None


def facts(page: Page) -> list[tuple[str, str]]:
    """What is known, each with its name: why, whose, how many dollars, which numbers."""
    named = [
        *capacity_wording.facts(page.capacity).items(),
        ("Job", jobs(page)),
        ("Money", money(page)),
        ("Changes", changes.wording(page.changes, page.change.changed_at)),
        ("Numbers", numbers(page)),
    ]
    return [(name, text) for name, text in named if text]


def jobs(page: Page) -> str | None:
    """Job and owner, worst node's first."""
    if not page.evidence or not page.evidence.jobs:
        return None
    return "; ".join(f"{job}, owner {owner}" for job, owner in page.evidence.jobs[:NODES_SHOWN])


def node_lines(page: Page) -> Iterator[str]:
    """One line for each of the worst nodes, then how many more there are."""
    nodes = page.evidence.nodes if page.evidence else ()
    for node in nodes[:NODES_SHOWN]:
        yield _node_line(page, node)
    if len(nodes) > NODES_SHOWN:
        yield f"and {len(nodes) - NODES_SHOWN} more"


def _own_price(page: Page, node: Node) -> str:
    told, own = page.evidence.price if page.evidence else None, node.last.price
    return "" if own is None or own == told else f" ({rate(own, page.change.changed_at.date())})"


def _node_line(page: Page, node: Node) -> str:
    facts = [node.last.instance_type] if node.last.instance_type else []
    if not node.is_silent:
        facts += _utilization(node)
    if node.usd_per_hour is not None:
        # Its price stands in the line of the dollars, by kind and date, or in its own where it is another one.
        facts.append(f"${amount(node.usd_per_hour)}/h{_own_price(page, node)}")
    facts += _errors(node)
    text = f"{node.last.node}: {', '.join([*facts, _timeline(node)])}"
    is_unsaid = node.is_silent or (node.state == NodeState.FAULT and not node.errors)
    return f"{text} ({node.last.state_reason[:REASON_SHOWN]})" if is_unsaid and node.last.state_reason else text


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
    names = [f"{each.kind}{'' if each.device is None else f' on device {each.device}'}" for each in worst_first]
    shown = names[:ERRORS_SHOWN] + ([f"{len(names) - ERRORS_SHOWN} more"] if len(names) > ERRORS_SHOWN else [])
    yield f"{' and '.join(shown)}: {_remedy(worst_first[0].action)}"


def _remedy(action: str) -> str:
    return "look at the node's peers" if action == Action.LOOK_AT_PEERS else f"{action} the node"


def _rank(action: str) -> int:
    return STRONGER_LATER.index(action) if action in STRONGER_LATER else -1


def _timeline(node: Node) -> str:
    """States and since when; the first one of the window began before it, so it has no time."""
    times = {spell: f"{spell.state} {spell.start.astimezone(UTC):%H:%M}" for spell in node.spells[1:]}
    return " → ".join(times.get(spell, spell.state) for spell in node.spells[-SPELLS_SHOWN:])


def clock(moment: datetime) -> str:
    """``2026-11-21 03:41 UTC``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def milliseconds(moment: datetime) -> str:
    """``2026-11-21T03:41:12.900Z``: texts sort as times do."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def is_test(change: AlarmChange) -> bool:
    """Whether the alarm is the one of `fleet page test`."""
    split = naming.split_alarm_name(change.name)
    return split is not None and split[1:] == (naming.PLATFORM, naming.PAGE_TEST)


def duration(span: timedelta) -> str:
    """``1 h 05 min``."""
    hours, minutes = divmod(max(0, int(span.total_seconds())) // 60, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
