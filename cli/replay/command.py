"""`fleet replay SCENARIO…`: which alarms would have paged, when, and how often they are right."""

import logging
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from cli.answers import COLORED, refuse
from cli.replay import report
from local.replay.recording import as_scenario
from local.replay.run import OURS, PERIOD_SECONDS, SETS, Replay, replay
from local.replay.scenario import CORPUS, Scenario, load
from local.replay.score import score
from local.scenario_file import ScenarioFileError


def replay_scenarios(
    scenarios: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Scenarios (YAML), folders of them, or recorded neuron-monitor lines. Default: the corpus."
        ),
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Hold rival alarm sets against ours.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Replay scenarios through the agent's pipeline and the alarms; exit 1 when a page is missed or false."""
    # Scenarios print garbage on purpose, and the agent says so in the log of a node that is not there.
    logging.getLogger("agents").setLevel(logging.ERROR)
    sets = SETS if compare else {OURS: SETS[OURS]}
    try:
        read = [_read(path) for path in _files(scenarios or [CORPUS])]
        replays = [_replayed(scenario, folder, sets, quiet=as_json) for scenario, folder in read]
    except ScenarioFileError as error:
        refuse(error)
    scores = {name: score(replays, name) for name in sets}
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(report.as_json(replays, scores)), indent=2))
    else:
        if len(replays) == 1:
            report.show_timeline(COLORED, replays[0])
        report.show_scores(COLORED, replays, scores)
    ours = scores[OURS]
    if any(outcome.first is None for outcome in ours.outcomes) or not all(each.is_true for each in ours.judged):
        raise typer.Exit(1)


def _files(paths: list[Path]) -> list[Path]:
    return [file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]


def _read(path: Path) -> tuple[Scenario, Path]:
    if path.suffix in {".yaml", ".yml"}:
        return load(path), path.parent
    return as_scenario(path, PERIOD_SECONDS), path.parent


def _replayed(scenario: Scenario, folder: Path, sets: report.Sets, *, quiet: bool) -> Replay:
    found = replay(scenario, sets, folder)
    if not quiet:
        report.show_scenario(COLORED, found)
    return found
