"""The pages that arrived, held against those that were expected, and the tables at the end of a demo."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from local.control import InboxMessage
from local.deployment import DeployedStack
from local.simulation.scenario import ExpectedPage, Scenario

_DOLLARS: Final = re.compile(r"\$[\d,]+(?:\.\d+)? an hour(?= wasted| unwatched)")


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """One incident in the paging inbox; minutes count from the scenario's start."""

    alarm: str
    minute: int
    text: str
    body: Any
    resolved_minute: int | None

    @property
    def dollars(self) -> str | None:
        """The first dollars-an-hour figure in it."""
        found = _DOLLARS.search(self.text)
        return found[0] if found else None

    @property
    def title(self) -> str:
        """The page's own first line."""
        return str(self.body["payload"]["summary"])


@dataclass(frozen=True, slots=True)
class Match:
    """One expected page, one received page, or both; ``problems`` is empty when all is as it should be."""

    alarm: str
    expected: ExpectedPage | None
    received: ReceivedPage | None
    problems: tuple[str, ...]


def received_pages(messages: Sequence[InboxMessage], start: float) -> list[ReceivedPage]:
    """The incidents that PagerDuty would hold, in order of arrival."""
    pages: list[ReceivedPage] = []
    events = [message for message in messages if message.channel == "pagerduty"]
    for position, message in enumerate(events):
        if message.body.get("event_action") != "trigger":
            continue
        key = message.body["dedup_key"]
        resolve = next((later for later in events[position + 1 :] if _resolves(later, key)), None)
        pages.append(
            ReceivedPage(
                alarm=key.rpartition(":alarm:")[2].partition("#")[0],
                minute=_minute(message, start),
                text=json.dumps(message.body, ensure_ascii=False),
                body=message.body,
                resolved_minute=_minute(resolve, start) if resolve else None,
            )
        )
    return pages


def compare(
    scenario: Scenario, environment: str, pages: Sequence[ReceivedPage], nodes: dict[str, list[str]]
) -> list[Match]:
    """Every expected page with the one that arrived for it, then the pages that nobody expects.

    ``nodes`` holds the node ids of each fleet.
    """
    rest = list(pages)
    matches: list[Match] = []
    for expected in scenario.expected_pages:
        name = f"{environment}/{expected.fleet}/{expected.alarm}"
        received = next((page for page in rest if page.alarm == name), None)
        if received is None:
            matches.append(Match(name, expected, None, ("did not arrive",)))
            continue
        rest.remove(received)
        problems = _problems(scenario, expected, received, nodes[expected.fleet])
        matches.append(Match(name, expected, received, tuple(problems)))
    matches.extend(Match(page.alarm, None, page, ("is not expected",)) for page in rest)
    return matches


def unexpected_tickets(scenario: Scenario, environment: str, alarms: Sequence[str]) -> list[str]:
    """Alarms among ``alarms`` (tickets that went to ALARM) that the scenario does not list."""
    listed = {f"{environment}/{ticket.fleet}/{ticket.alarm}" for ticket in scenario.expected_tickets}
    return sorted(set(alarms) - listed)


def _problems(scenario: Scenario, expected: ExpectedPage, page: ReceivedPage, nodes: list[str]) -> list[str]:
    problems = []
    if not expected.earliest_minute <= page.minute <= expected.latest_minute:
        window = f"{expected.earliest_minute} to {expected.latest_minute}"
        problems.append(f"came in minute {page.minute}, expected in {window}")
    if expected.resolves and page.resolved_minute is None:
        problems.append("was not resolved")
    if not expected.resolves and page.resolved_minute is not None:
        problems.append(f"was resolved in minute {page.resolved_minute}, though nothing was repaired")
    job = scenario.fleets[expected.fleet].job
    wanted = [expected.fleet, *([job.id] if job else []), *(nodes[index] for index in expected.nodes)]
    problems.extend(f"does not name {text}" for text in wanted if text not in page.text)
    if page.dollars is None:
        problems.append("does not say dollars an hour")
    return problems


def _resolves(message: InboxMessage, key: str) -> bool:
    return bool(message.body.get("event_action") == "resolve" and message.body.get("dedup_key") == key)


def _minute(message: InboxMessage, start: float) -> int:
    return int(((message.received_at or start) - start) // 60)


def stacks_table(stacks: Sequence[DeployedStack], seconds: float) -> Table:
    """What is deployed."""
    table = Table(title=f"Deployed in {seconds:.0f} s", title_justify="left")
    table.add_column("stack")
    table.add_column("resources", justify="right")
    table.add_column("status")
    for stack in stacks:
        table.add_row(stack.name, str(stack.resources), stack.status)
    table.add_section()
    table.add_row(f"{len(stacks)} stacks", str(sum(stack.resources for stack in stacks)), "")
    return table


def measured_table(nodes: int, datums: int, alarms: int, transitions: int, minutes: int, seconds: float) -> Table:
    """What happened."""
    table = Table(title=f"{minutes / 60:g} hours in {seconds:.0f} s", title_justify="left", show_header=False)
    table.add_row("nodes", str(nodes))
    table.add_row("metric datums published", f"{datums:,}")
    table.add_row("alarms", str(alarms))
    table.add_row("alarm transitions", str(transitions))
    return table


def print_verdicts(console: Console, matches: Sequence[Match]) -> None:
    """Pages received against pages expected: a table, and below it what is wrong, one line each."""
    table = Table(title="Pages", title_justify="left")
    table.add_column("alarm", overflow="fold")
    for column in ("minutes", "came", "resolved"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("dollars", no_wrap=True)
    table.add_column("good", justify="center", no_wrap=True)
    for match in matches:
        expected, page = match.expected, match.received
        table.add_row(
            match.alarm.partition("/")[2],
            f"{expected.earliest_minute}-{expected.latest_minute}" if expected else "none",
            str(page.minute) if page else "-",
            "-" if page is None or page.resolved_minute is None else str(page.resolved_minute),
            (page.dollars or "-").replace(" an hour", "/h") if page else "-",
            "[red]✗[/red]" if match.problems else "[green]✓[/green]",
        )
    console.print(table)
    for match in matches:
        for problem in match.problems:
            console.print(f"[red]✗[/red] {match.alarm} {problem}", highlight=False, soft_wrap=True)


def print_pages(console: Console, matches: Sequence[Match]) -> None:
    """Each page's own words."""
    for match in matches:
        if match.received is None:
            continue
        details = match.received.body["payload"].get("custom_details", {})
        console.print(f"\n[bold]{match.received.title}[/bold]", highlight=False, soft_wrap=True)
        for name in ("job", "money", "nodes", "do_first"):
            value = details.get(name)
            for line in value if isinstance(value, list) else [value] if value else []:
                console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
