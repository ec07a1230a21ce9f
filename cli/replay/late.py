"""How data come, by the options of `fleet replay`, and the figures under every way in which they do."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from cli.replay import report
from cli.tables import Table, print_table
from fleet.alarms import Severity
from local.replay.delivery import Delivery, Late
from local.replay.run import OURS, Replay
from local.replay.score import Score, score

ByDelivery = Mapping[str, Sequence[Replay]]


def delivery(delay_minutes: int, skew_minutes: int, *, partial: bool) -> Delivery:
    """What the options say, together."""
    seconds = delay_minutes * 60
    late = Late.AFFECTED if partial else Late.NOBODY
    return Delivery(name="as asked", delay_seconds=(seconds, seconds), late=late, skew_minutes=skew_minutes)


def show(console: Console, found: ByDelivery) -> None:
    """One row for each delivery: pages, minutes to them, tickets."""
    of_tickets = ("ticket recall", "ticket precision")
    table = Table("data", "incidents", "recall", "sent", "precision", "minutes", "idle", "hardware", *of_tickets)
    for name, replays in found.items():
        result = score(replays, OURS)
        pages, tickets = result.of(Severity.PAGE), result.of(Severity.TICKET)
        table.add_row(name, *_figures(pages), report.percent(tickets.recall), report.percent(tickets.precision))
    print_table(table, console)


def as_json(found: ByDelivery) -> dict[str, Any]:
    """The figures of our own set by the name of each delivery."""
    return {name: report.figures_of(score(replays, OURS)) for name, replays in found.items()}


def _figures(pages: Score) -> tuple[str, ...]:
    return (
        str(len(pages.outcomes)),
        report.percent(pages.recall),
        str(len(pages.judged)),
        report.percent(pages.precision),
        *(report.in_minutes(pages.minutes(kind)) for kind in (None, "idle", "hardware")),
    )
