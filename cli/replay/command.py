"""`fleet replay SCENARIO…`: which alarms would have paged, when, and how often they are right.

Scenarios are replayed side by side: none knows of another, so every core of the machine replays its own.
"""

import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.answers import COLORED, print_json, refuse, say
from cli.progress import waiting
from cli.replay import generated, late, plot, report, swept
from cli.replay.files import asked_for
from local.replay import rule_file
from local.replay.delivery import AT_ONCE, SWEEP, Delivery
from local.replay.generator.corpus import SEED, Half
from local.replay.run import OURS, SETS, AlarmSet, Replay, replay_under
from local.replay.scenario import Scenario
from local.replay.score import score
from local.replay.sweep import Sweep, SweepError, asked, rows
from local.scenario_file import ScenarioFileError

# Fewer are over before workers would have begun.
_FEW: Final = 4
# Alarms are made by functions, which forked workers have and no pickle takes.
_SETS: Final[dict[str, AlarmSet]] = {}


@contextmanager
def replaying(
    read: Sequence[tuple[Scenario, Path]], sets: Mapping[str, AlarmSet], deliveries: Sequence[Delivery] = (AT_ONCE,)
) -> Iterator[Iterator[list[Replay]]]:
    """What comes of each scenario under each of ``deliveries``, in their order.

    Files that scenarios name lie in the folder beside them.
    """
    workers = min(os.cpu_count() or 1, len(read))
    _SETS.clear()
    _SETS.update(sets)
    one = partial(_one, tuple(deliveries))
    if len(read) < _FEW or workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield map(one, read)
        return
    # Forked ones have all modules already. They begin here, before this process has a second thread of its own.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _end_at_once)
    try:
        yield pool.map(one, read)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one(deliveries: Sequence[Delivery], read: tuple[Scenario, Path]) -> list[Replay]:
    # Scenarios print garbage on purpose, and the agent says so in the log of a node that is not there.
    logging.getLogger("agents").setLevel(logging.ERROR)
    scenario, folder = read
    return replay_under(scenario, _SETS, deliveries, folder)


def _end_at_once() -> None:
    # Ctrl-C reaches the workers too, whose tracebacks tell nobody anything.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def replay_scenarios(  # noqa: PLR0913, PLR0917 - one for each option
    scenarios: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Scenarios (YAML, or names in the corpus), folders of them, or recorded neuron-monitor lines. "
            "Default: the corpus."
        ),
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Hold rival alarm sets against ours.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    delay: Annotated[int, typer.Option(min=0, max=15, help="Minutes after which CloudWatch shows a datum.")] = 0,
    skew: Annotated[int, typer.Option(min=0, max=15, help="Minutes by which two clocks in three are wrong.")] = 0,
    partly: Annotated[
        bool, typer.Option("--partial", help="Show what nodes that do not run send one look later.")
    ] = False,
    delays: Annotated[
        bool, typer.Option("--delays", help="Replay under every delay, and compare; exit by the first, at once.")
    ] = False,
    half: Annotated[
        Half | None, typer.Option("--generated", help="Replay a set of generated scenarios; of test, figures only.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of --generated and --export: another seed is another corpus.")] = SEED,
    look_inside: Annotated[
        bool,
        typer.Option("--look-inside", help="Name scenarios of test too. Whoever tunes to them has no figure any more."),
    ] = False,
    sweep: Annotated[
        str | None,
        typer.Option(help="Give an alarm one threshold after the other: ALARM.threshold=1..50, or =1,5,20."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the rows of --sweep into this file too.")] = None,
    drawing: Annotated[Path | None, typer.Option("--plot", help="SVG file to draw the rows of --sweep into.")] = None,
    rules: Annotated[
        Path | None, typer.Option(help="A file of Prometheus alerting rules to hold against ours, as the set rules.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write the generated scenarios into this folder, and replay nothing.")
    ] = None,
) -> None:
    """Replay scenarios through the agent's pipeline and the alarms; exit 1 when a page is missed or false."""
    if export is not None:
        _export(export, seed)
        return
    if sweep is None:
        _refuse_rows({"--csv writes": csv, "--plot draws": drawing})
    closed = half is Half.TEST and not look_inside
    try:
        read = asked_for(scenarios or [], half, seed)
        if sweep is not None:
            _sweep(read, asked(sweep), csv, drawing, as_json=as_json)
            return
        sets = {**(SETS if compare else {OURS: SETS[OURS]}), **_of_file(rules)}
        deliveries = SWEEP if delays else (late.delivery(delay, skew, partial=partly),)
        by_delivery = _replayed(read, sets, deliveries, quiet=as_json or closed)
        replays = by_delivery[deliveries[0].name]
    except (ScenarioFileError, SweepError, plot.PlotError, rule_file.RuleFileError) as error:
        refuse(error)
    scores = {name: score(replays, name) for name in sets}
    if delays:
        _compare(by_delivery, as_json=as_json)
    elif as_json:
        print_json(report.as_json(replays, scores, closed=closed))
    else:
        report.show(COLORED, replays, scores)
    ours = scores[OURS]
    if any(outcome.first is None for outcome in ours.outcomes) or not all(each.is_true for each in ours.judged):
        raise typer.Exit(1)


def _of_file(rules: Path | None) -> dict[str, AlarmSet]:
    return {} if rules is None else {rule_file.NAME: rule_file.load(rules).alarms}


def _refuse_rows(files: Mapping[str, Path | None]) -> None:
    for what, file in files.items():
        if file is not None:
            refuse(f"{what} the rows of --sweep: pass that too")


def _sweep(
    read: Sequence[tuple[Scenario, Path]], sweep: Sweep, csv: Path | None, drawing: Path | None, *, as_json: bool
) -> None:
    if drawing is not None:
        plot.node_for()
    found = rows(sweep.scores(_replayed(read, sweep.sets(), quiet=True)[AT_ONCE.name]))
    if csv is not None:
        try:
            swept.write(csv, found)
        except OSError as error:
            refuse(f"{csv}: {error.strerror}")
    if drawing is not None:
        plot.write(drawing, sweep.alarm, found)
    if as_json:
        print_json({"alarm": sweep.alarm, "rows": found})
    else:
        swept.show(COLORED, sweep.alarm, found)


def _compare(by_delivery: late.ByDelivery, *, as_json: bool) -> None:
    if as_json:
        print_json(late.as_json(by_delivery))
    else:
        late.show(COLORED, by_delivery)


def _export(folder: Path, seed: int) -> None:
    try:
        written = list(generated.export(folder, seed))
    except OSError as error:
        refuse(f"{folder}: {error.strerror}")
    say(f"{len(written)} scenarios in {', '.join(str(folder / half) for half in Half)}")


def _replayed(
    read: Sequence[tuple[Scenario, Path]],
    sets: Mapping[str, AlarmSet],
    deliveries: Sequence[Delivery] = (AT_ONCE,),
    *,
    quiet: bool,
) -> dict[str, list[Replay]]:
    """The replays of all scenarios by the name of each delivery."""
    found: list[list[Replay]] = []
    with replaying(read, sets, deliveries) as replays, waiting("replaying") as line:
        for each in replays:
            found.append(each)
            line.update(f"scenario {len(found)} of {len(read)}")
            if not quiet:
                with line.aside():
                    report.show_scenario(COLORED, each[0])
    return {how.name: [each[index] for each in found] for index, how in enumerate(deliveries)}
