"""Days of jobs that are well: what they do over and over."""

import random
from collections.abc import Callable, Mapping
from typing import Final

from local.replay.generator import figures
from local.replay.generator.day import COMPILES, FREE, STARTS, Day, begins, says_what, works
from local.replay.generator.track import Shown, Track
from local.simulation.script import PhaseKind


def pretraining(rng: random.Random, target: float) -> Day:
    """Hours of steps, checkpoints, and validations on the cores or on the CPU."""
    run, every = works(rng, target), figures.BETWEEN_CHECKPOINTS.draw(rng)
    validates_every = figures.BETWEEN_VALIDATIONS.draw(rng)
    on_cpu, says = rng.random() < 0.5, says_what(rng, "validation")
    forward = Shown(PhaseKind.RUNNING, run.tensor * 0.8, run.core * 0.9, says)
    validates = Shown(PhaseKind.HOST_WORK, announces=says) if on_cpu else forward
    length = figures.VALIDATION.draw(rng)
    due = validates_every

    def cycle(track: Track) -> None:
        nonlocal due
        track.add(run, every)
        due -= every
        track.add(Shown(PhaseKind.CHECKPOINT, announces="checkpoint"), figures.CHECKPOINT.draw(rng))
        if due <= 0:
            due = validates_every
            # The same set every time: a validation lasts about as long as the one before.
            track.add(validates, length * rng.uniform(0.9, 1.1))

    return Day(begins(rng, 0.5), cycle, run)


def epochs(rng: random.Random, target: float) -> Day:
    """Epochs, and the next shards in between."""
    run, says = works(rng, target), says_what(rng, "data-preparation")
    length = figures.EPOCH.draw(rng)

    def cycle(track: Track) -> None:
        track.add(run, length * rng.uniform(0.9, 1.1))
        track.add(Shown(PhaseKind.FETCHING, announces=says), figures.FETCH.draw(rng))
        track.add(Shown(PhaseKind.CHECKPOINT, announces="checkpoint"), figures.CHECKPOINT.draw(rng))

    return Day(begins(rng, 0.3), cycle, run)


def reinforcement(rng: random.Random, target: float) -> Day:
    """Rollouts on the CPU for some minutes, updates on the cores for some more."""
    run, says = works(rng, target), says_what(rng, "rollout")
    rollout, update = figures.ROLLOUT.draw(rng), figures.UPDATE.draw(rng)

    def cycle(track: Track) -> None:
        track.add(Shown(PhaseKind.HOST_WORK, announces=says), rollout * rng.uniform(0.9, 1.1))
        track.add(run, update * rng.uniform(0.9, 1.1))

    return Day(begins(rng, 0.5), cycle, run)


def fine_tuning(rng: random.Random, target: float) -> Day:
    """Short jobs one after the other, and free nodes in between."""
    run, free_before = works(rng, target), False

    def begin(track: Track) -> None:
        track.add(STARTS, figures.STARTUP.draw(rng))

    def cycle(track: Track) -> None:
        nonlocal free_before
        if free_before:
            track.add(FREE, figures.GAP.draw(rng))
            track.add(STARTS, figures.STARTUP.draw(rng))
        free_before = True
        track.add(run, figures.TUNING.draw(rng))

    return Day(begin, cycle, run)


def notebook(rng: random.Random, target: float) -> Day:
    """Cells, and a person who thinks in between while the kernel holds the cores."""
    run = works(rng, target * 0.6)

    def cycle(track: Track) -> None:
        track.add(run, figures.CELL.draw(rng))
        track.add(Shown(PhaseKind.IDLE), figures.THINKING.draw(rng))

    return Day(begins(rng, 0.0), cycle, run)


def compiling(rng: random.Random, target: float) -> Day:
    """Somebody changes a model: long compilations, for which the peers wait, and short runs."""
    run = works(rng, target)
    waits = Shown(PhaseKind.WAITING, core=rng.choice((0.0, 99.0)))

    def begin(track: Track) -> None:
        track.add(STARTS, figures.STARTUP.draw(rng))

    def cycle(track: Track) -> None:
        track.add(waits, figures.COMPILE.draw(rng), odd=COMPILES)
        track.add(run, figures.TUNING.draw(rng))
        track.add(FREE, figures.GAP.draw(rng))
        track.add(STARTS, figures.STARTUP.draw(rng))

    return Day(begin, cycle, run)


def restarts(rng: random.Random, target: float) -> Day:
    """A job that is preempted or changed, and goes on from its checkpoint each time."""
    run, begin, started = works(rng, target), begins(rng, 0.4), False

    def cycle(track: Track) -> None:
        nonlocal started
        if started:
            track.add(FREE, figures.GAP.draw(rng))
            begin(track)
        started = True
        track.add(run, figures.STEADY.draw(rng))
        track.add(Shown(PhaseKind.CHECKPOINT, announces="checkpoint"), figures.CHECKPOINT.draw(rng))

    return Day(begin, cycle, run)


def evaluation(rng: random.Random, target: float) -> Day:
    """A series of benchmarks: forward passes, and scoring on the CPU."""
    run, says = works(rng, target), says_what(rng, "evaluation")

    def cycle(track: Track) -> None:
        track.add(run, figures.TUNING.draw(rng))
        track.add(Shown(PhaseKind.HOST_WORK, announces=says), figures.VALIDATION.draw(rng))

    return Day(begins(rng, 0.3), cycle, run)


def serving(rng: random.Random, target: float) -> Day:
    """Traffic that comes and goes with the hour."""
    usual = figures.TRAFFIC.draw(rng)

    def cycle(track: Track) -> None:
        share = max(0.3, usual * rng.uniform(0.3, 1.5))
        track.add(Shown(PhaseKind.RUNNING, share, min(99.0, share * 3.5)), rng.uniform(20, 90))

    return Day(begins(rng, 0.0), cycle, Shown(PhaseKind.RUNNING, usual, min(99.0, usual * 3.5)))


DAYS: Final[Mapping[str, Callable[[random.Random, float], Day]]] = {
    "pretraining": pretraining,
    "epochs": epochs,
    "reinforcement": reinforcement,
    "fine-tuning": fine_tuning,
    "compiling": compiling,
    "restarts": restarts,
    "evaluation": evaluation,
}
"""What a training fleet may go through; notebooks and endpoints have machines of their own."""
