"""How `fleet replay` shows what came of it: a line for each scenario, a timeline of one, tables of the figures."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from cli.tables import Table, print_table
from fleet.alarms import Severity
from local.replay.run import OURS, AlarmSet, Replay
from local.replay.scenario import Incident
from local.replay.score import Score, score

Sets = Mapping[str, AlarmSet]
Scores = Mapping[str, Score]


def show_scenario(console: Console, replay: Replay) -> None:
    """One line: what was told, what is missing, what is false."""
    result = score([replay], OURS)
    parts = [f"{each.told.alarm} at {each.told.minute:.0f}" for each in result.judged if each.is_true]
    parts += [
        f"[red]FALSE {each.told.alarm} at {each.told.minute:.0f}[/]" for each in result.judged if not each.is_true
    ]
    missed = [each.incident for each in result.outcomes if each.first is None]
    parts += [f"[red]MISSED {each.alarms[0]} by {each.by}[/]" for each in missed]
    console.print(f"{replay.scenario.name}: {'; '.join(parts) or 'silence'}")


def show(console: Console, replays: Sequence[Replay], scores: Scores) -> None:
    """One scenario's timeline, and the tables of all."""
    if len(replays) == 1:
        show_timeline(console, replays[0])
    show_scores(console, replays, scores)


def show_timeline(console: Console, replay: Replay) -> None:
    """The states of each fleet's nodes, and what was told in between, in the order of time."""
    lines = [
        (float(each.at), f"{each.fleet}: {', '.join(f'{count} {state}' for state, count in each.states)}")
        for each in replay.timeline
    ]
    for each in replay.told[OURS]:
        lines.append((each.minute, f"{each.fleet}: {each.severity.value} {each.alarm}"))
        if each.resolved is not None:
            lines.append((each.resolved, f"{each.fleet}: {each.alarm} ends"))
    for minute, text in sorted(lines):
        console.print(f"{int(minute) // 60}:{minute % 60:04.1f}  {text}")


def show_scores(console: Console, replays: Sequence[Replay], scores: Scores) -> None:
    """Each alarm of ours, then all sets beside each other."""
    ours = scores[OURS]
    by_alarm = Table("alarm", "incidents", "recall", "sent", "precision", "median minutes")
    for alarm in ours.alarms:
        _row(by_alarm, alarm, ours.of_alarm(alarm))
    _row(by_alarm, "all tickets", ours.of(Severity.TICKET))
    _row(by_alarm, "all pages", ours.of(Severity.PAGE))
    print_table(by_alarm, console)
    lost = "USD lost before the page"
    sets = Table("pages of", "incidents", "recall", "sent", "precision", "median minutes", "idle", "hardware", lost)
    for name, result in scores.items():
        pages = result.of(Severity.PAGE)
        minutes = [in_minutes(pages.minutes(kind)) for kind in ("idle", "hardware")]
        _row(sets, name, pages, *minutes, _lost(pages))
    print_table(sets, console)
    hours = sum(replay.scenario.node_hours for replay in replays)
    console.print(f"{len(replays)} scenarios, {hours:,.0f} node-hours")


def as_json(replays: Sequence[Replay], scores: Scores, *, closed: bool = False) -> dict[str, Any]:
    """All of it as one object; minutes count from each scenario's start. A ``closed`` set names no scenario."""
    figures = {
        "scenario_count": len(replays),
        "node_hours": sum(replay.scenario.node_hours for replay in replays),
        "sets": {name: figures_of(result) for name, result in scores.items()},
        "alarms": {alarm: figures_of(scores[OURS].of_alarm(alarm)) for alarm in scores[OURS].alarms},
    }
    return figures if closed else {**figures, **_scenarios(replays, scores)}


def _scenarios(replays: Sequence[Replay], scores: Scores) -> dict[str, Any]:
    return {
        "scenarios": [
            {
                "name": replay.scenario.name,
                "told": {name: list(told) for name, told in replay.told.items()},
                "timeline": list(replay.timeline),
            }
            for replay in replays
        ],
        "missed": [_missed(each.scenario, each.incident) for each in scores[OURS].outcomes if each.first is None],
        "false": [{"scenario": each.scenario, "told": each.told} for each in scores[OURS].judged if not each.is_true],
    }


def _missed(scenario: str, incident: Incident) -> dict[str, Any]:
    return {"scenario": scenario, "incident": incident.model_dump(mode="json")}


def figures_of(result: Score) -> dict[str, Any]:
    """Pages and tickets of one set."""
    return {
        severity.value: {
            "incidents": len(part.outcomes),
            "recall": part.recall,
            "sent": len(part.judged),
            "precision": part.precision,
            "lost_usd": part.lost_usd,
            "at_stake_usd": part.at_stake_usd,
            "median_minutes": part.minutes(),
            "median_minutes_by_kind": {
                kind: part.minutes(kind) for kind in sorted({each.incident.kind for each in part.outcomes})
            },
        }
        for severity in Severity
        for part in (result.of(severity),)
    }


def _row(table: Table, name: str, result: Score, *more: str) -> None:
    table.add_row(
        name,
        str(len(result.outcomes)),
        percent(result.recall),
        str(len(result.judged)),
        percent(result.precision),
        in_minutes(result.minutes()),
        *more,
    )


def percent(share: float | None) -> str:
    """A share of one as percent."""
    return "-" if share is None else f"{share:.1%}"


def _lost(result: Score) -> str:
    """Dollars before the page, of those that burn where nobody is paged."""
    lost, at_stake = result.lost_usd, result.at_stake_usd
    return "-" if lost is None or at_stake is None else f"{lost:,.0f} of {at_stake:,.0f}"


def in_minutes(value: float | None) -> str:
    """To the tenth."""
    return "-" if value is None else f"{value:.1f}"
