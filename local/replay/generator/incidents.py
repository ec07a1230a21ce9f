"""What goes wrong with a job: each writes the minutes into its track and the label beside them.

An incident begins where the job's track has come to, and ends when somebody acts; the job is started again then.
"""

from collections.abc import Callable, Mapping
from typing import Final

from fleet.alarms import Severity
from local.replay.generator import figures
from local.replay.generator.day import FREE, STARTS
from local.replay.generator.labels import broken, burns, unused
from local.replay.generator.site import Placed, Site
from local.replay.generator.track import Shown
from local.simulation.script import PhaseKind

Incident = Callable[[Site, Placed], None]


def _lasts(site: Site, placed: Placed) -> tuple[int, int]:
    at = placed.track.now
    return at, min(site.minutes, at + figures.LASTS.whole(site.rng))


def _through(site: Site, placed: Placed, shown: Shown) -> tuple[int, int]:
    at, until = _lasts(site, placed)
    placed.track.add(shown, until - at)
    return at, until


def idle(site: Site, placed: Placed) -> None:
    """The script has ended its work, or waits for input: the process holds its cores for nothing."""
    burns(site, placed, "idle", _through(site, placed, Shown(PhaseKind.IDLE)))


def never_started(site: Site, placed: Placed) -> None:
    """After a restart the job never gets to its first step and says nothing."""
    placed.track.add(FREE, figures.GAP.draw(site.rng))
    placed.track.add(STARTS, figures.STARTUP.draw(site.rng))
    # A start may take half an hour, and nobody can tell it from this one before.
    burns(site, placed, "idle", _through(site, placed, Shown(PhaseKind.IDLE)), more_minutes=30)


def hang(site: Site, placed: Placed) -> None:
    """A collective never ends; its peers spin on their cores, or wait on the host."""
    spins = site.rng.random() < 0.75
    burns(site, placed, "hang", _through(site, placed, Shown(PhaseKind.HANG, core=99.0 if spins else 0.0)))


def hangs_again(site: Site, placed: Placed) -> None:
    """It hangs, is started again, and hangs once more."""
    hang(site, placed)
    placed.track.add(FREE, figures.BACKOFF.draw(site.rng))
    placed.track.add(STARTS, figures.CRASH.draw(site.rng))
    placed.track.add(placed.day.works, figures.LATER.draw(site.rng))
    if not placed.track.is_over:
        hang(site, placed)


def waste(site: Site, placed: Placed) -> None:
    """The input pipeline starves the cores."""
    share = figures.STARVED.draw(site.rng)
    shown = Shown(PhaseKind.DATA_STALL, site.target * share, figures.STARVED_CORES.draw(site.rng))
    burns(site, placed, "waste", _through(site, placed, shown), lost=1 - share)


def fits_and_starts(site: Site, placed: Placed) -> None:
    """A starved job whose loader fills a buffer in turns: 5 % for some minutes, 60 % for some more."""
    at, until = _lasts(site, placed)
    turn = figures.TURN.whole(site.rng)
    while placed.track.now < until:
        placed.track.add(Shown(PhaseKind.DATA_STALL, 5.0, 30.0), min(turn, until - placed.track.now))
        if placed.track.now < until:
            placed.track.add(Shown(PhaseKind.RUNNING, 60.0, 97.0), min(turn, until - placed.track.now))
    burns(site, placed, "waste", (at, until), lost=(1 - 5.0 / site.target) / 2)


def hardware(site: Site, placed: Placed) -> None:
    """A device has an uncorrectable error; the peers hang until their collectives time out, then the job is gone."""
    at, until = _lasts(site, placed)
    _fails(site, placed, placed.odd, (at, until))
    _left_alone(site, placed, until)


def _fails(site: Site, placed: Placed, node: int, span: tuple[int, int]) -> None:
    site.event("memory-error", (node,), *span)
    broken(site, placed, "hardware", span, (node,))


def _left_alone(site: Site, placed: Placed, until: int) -> None:
    """The job hangs, gives up, and is started again when all of its nodes are well."""
    timeout = figures.TIMEOUT.whole(site.rng)
    placed.track.add(Shown(PhaseKind.HANG, core=99.0), min(timeout, until - placed.track.now))
    if placed.track.now < until:
        placed.track.add(FREE, until - placed.track.now)


def second_fault(site: Site, placed: Placed) -> None:
    """Another node fails while the first one waits for its repair."""
    at, until = _lasts(site, placed)
    later = min(at + figures.LATER.whole(site.rng), until - 15)
    ends = min(site.minutes, later + figures.LASTS.whole(site.rng))
    _fails(site, placed, placed.odd, (at, until))
    _fails(site, placed, site.rng.choice([node for node in placed.nodes if node != placed.odd]), (later, ends))
    _left_alone(site, placed, max(until, ends))


def straggler(site: Site, placed: Placed) -> None:
    """One node is slower than its peers, which wait for it at every step."""
    run, apart = placed.day.works, figures.SLOWER.draw(site.rng)
    slow = Shown(PhaseKind.RUNNING, run.tensor * 0.7, run.core)
    peers = Shown(PhaseKind.RUNNING, run.tensor * 0.7, max(5.0, run.core - apart))
    at, until = _lasts(site, placed)
    # Where its host is slow its cores rest while its peers' spin; where its device is, its peers rest on their hosts.
    ours, theirs = (slow, peers) if site.rng.random() < 0.5 else (peers, slow)
    placed.track.add(theirs, until - at, odd=ours)
    broken(site, placed, "straggler", (at, until), (placed.odd,), severity=Severity.TICKET)


def crash_loop(site: Site, placed: Placed) -> None:
    """It starts, crashes before its first step, and is started again."""
    at, until = _lasts(site, placed)
    while placed.track.now < until:
        placed.track.add(FREE, figures.BACKOFF.draw(site.rng))
        placed.track.add(STARTS, figures.CRASH.draw(site.rng))
    burns(site, placed, "crash-loop", (at, until))


def ends(site: Site, placed: Placed) -> None:
    """The job has ended, and its nodes stay."""
    at = placed.track.now
    placed.track.until = site.minutes
    placed.track.add(FREE, site.minutes - at)
    unused(site, placed, (at, site.minutes))


def lost_node(site: Site, placed: Placed) -> None:
    """EC2 takes a node away, and its peers wait for it."""
    at, until = _lasts(site, placed)
    site.event("node-gone", (placed.odd,), at, until)
    placed.track.add(Shown(PhaseKind.HANG, core=99.0), until - at, odd=FREE)
    broken(site, placed, "capacity", (at, until), (placed.odd,), severity=Severity.TICKET)
    if len(placed.nodes) > 1:
        burns(site, placed, "hang", (at, until))


def endless_compilation(site: Site, placed: Placed) -> None:
    """A graph that the compiler never gets done with; the peers wait."""
    at = placed.track.now
    placed.track.add(Shown(PhaseKind.WAITING), site.minutes - at, odd=Shown(PhaseKind.COMPILING))
    label = {"severity": Severity.TICKET, "optional": site.minutes - at < 200}
    broken(site, placed, "compiler", (at, site.minutes), (placed.odd,), **label)


def nan_loss(site: Site, placed: Placed) -> None:
    """The loss is no number any more; it trains on."""
    at, until = _lasts(site, placed)
    run = placed.day.works
    lost = Shown(PhaseKind.RUNNING, run.tensor, run.core, counts=(("NonFiniteLoss", 1.0),))
    placed.track.add(lost, until - at)
    burns(site, placed, "loss", (at, until))


OF_A_JOB: Final[Mapping[str, Incident]] = {
    "idle": idle,
    "never-started": never_started,
    "hang": hang,
    "hang-again": hangs_again,
    "waste": waste,
    "fits-and-starts": fits_and_starts,
    "hardware": hardware,
    "second-fault": second_fault,
    "straggler": straggler,
    "crash-loop": crash_loop,
    "ended": ends,
    "node-lost": lost_node,
    "endless-compilation": endless_compilation,
    "nan-loss": nan_loss,
}
