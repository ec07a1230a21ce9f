"""`fleet replay SCENARIO…`: which alarms would have paged, when, and how often they are right.

Scenarios are replayed side by side: none knows of another, so every core of the machine replays its own.
"""

import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from cli.answers import COLORED, refuse, say
from cli.progress import waiting
from cli.replay import generated, report
from fleet.diagnostics import did_you_mean
from local.replay.generator.corpus import SEED, Half
from local.replay.recording import as_scenario
from local.replay.run import OURS, PERIOD_SECONDS, SETS, Replay, replay
from local.replay.scenario import CORPUS, Scenario, load
from local.replay.score import score
from local.scenario_file import ScenarioFileError

# Fewer are over before workers would have begun.
_FEW: Final = 4


@contextmanager
def replaying(read: Sequence[tuple[Scenario, Path]], sets: Sequence[str]) -> Iterator[Iterator[Replay]]:
    """What comes of each scenario, in their order; files that they name lie in the folder beside them."""
    workers = min(os.cpu_count() or 1, len(read))
    one = partial(_one, tuple(sets))
    if len(read) < _FEW or workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield map(one, read)
        return
    # Forked ones have all modules already. They begin here, before this process has a second thread of its own.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _end_at_once)
    try:
        yield pool.map(one, read)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one(sets: Sequence[str], read: tuple[Scenario, Path]) -> Replay:
    # Scenarios print garbage on purpose, and the agent says so in the log of a node that is not there.
    logging.getLogger("agents").setLevel(logging.ERROR)
    scenario, folder = read
    return replay(scenario, {name: SETS[name] for name in sets}, folder)


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
    half: Annotated[
        Half | None, typer.Option("--generated", help="Replay a set of generated scenarios; of test, figures only.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of --generated and --export: another seed is another corpus.")] = SEED,
    look_inside: Annotated[
        bool,
        typer.Option("--look-inside", help="Name scenarios of test too. Whoever tunes to them has no figure any more."),
    ] = False,
    export: Annotated[
        Path | None, typer.Option(help="Write the generated scenarios into this folder, and replay nothing.")
    ] = None,
) -> None:
    """Replay scenarios through the agent's pipeline and the alarms; exit 1 when a page is missed or false."""
    if export is not None:
        _export(export, seed)
        return
    if half is not None and scenarios:
        refuse("--generated brings its own scenarios: pass either it or files")
    sets, closed = tuple(SETS) if compare else (OURS,), half is Half.TEST and not look_inside
    try:
        read = generated.read(half, seed) if half else [_read(path) for path in _files(scenarios or [CORPUS])]
        replays = _replayed(read, sets, quiet=as_json or closed)
    except ScenarioFileError as error:
        refuse(error)
    scores = {name: score(replays, name) for name in sets}
    if as_json:
        answer = report.as_json(replays, scores, closed=closed)
        typer.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2))
    else:
        if len(replays) == 1:
            report.show_timeline(COLORED, replays[0])
        report.show_scores(COLORED, replays, scores)
    ours = scores[OURS]
    if any(outcome.first is None for outcome in ours.outcomes) or not all(each.is_true for each in ours.judged):
        raise typer.Exit(1)


def _export(folder: Path, seed: int) -> None:
    try:
        written = list(generated.export(folder, seed))
    except OSError as error:
        refuse(f"{folder}: {error.strerror}")
    say(f"{len(written)} scenarios in {', '.join(str(folder / half) for half in Half)}")


def _files(paths: list[Path]) -> list[Path]:
    found = [file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [_known(path)])]
    if not found:
        refuse(f"{', '.join(map(str, paths))}: no scenario in it; they end in .yaml")
    return found


def _known(path: Path) -> Path:
    """A file, or the scenario of the corpus that is called so."""
    if path.exists() or path.parent != Path() or path.suffix:
        return path
    known = {file.stem: file for file in sorted(CORPUS.glob("*.yaml"))}
    if path.name not in known:
        fix = did_you_mean(path.name, known, f"see {CORPUS}, or pass a file")
        refuse(f"there is no scenario {path.name!r}; {fix}")
    return known[path.name]


def _read(path: Path) -> tuple[Scenario, Path]:
    if path.suffix in {".yaml", ".yml"}:
        return load(path), path.parent
    return as_scenario(path, PERIOD_SECONDS), path.parent


def _replayed(read: Sequence[tuple[Scenario, Path]], sets: tuple[str, ...], *, quiet: bool) -> list[Replay]:
    found: list[Replay] = []
    with replaying(read, sets) as replays, waiting("replaying") as line:
        for each in replays:
            found.append(each)
            line.update(f"scenario {len(found)} of {len(read)}")
            if not quiet:
                with line.aside():
                    report.show_scenario(COLORED, each)
    return found
