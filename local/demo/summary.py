"""The tables at the end of a demo."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from local.demo.pages import Match
from local.deployment import DeployedStack


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
