"""The part of a training script that needs no framework: resume, save, report, and say why it ended."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from examples.launch import RESUME_FILE
from fleet.checkpoints.schedule import Schedule
from workload.checkpoint.drain import RUN_DIRECTORY, Drain
from workload.checkpoint.member import Habits, Member, run_name
from workload.checkpoint.saver import Saver
from workload.checkpoint.stores.places import open_store
from workload.node_agent import SOCKET, Hints, send

_LONGEST_SECONDS: Final = 3600.0
# Where a container sees its node's run directory, and where it may write; a job's variables may say otherwise.
_RUN_DIRECTORY: Final = "NEURON_FLEET_RUN_DIRECTORY"
_SCRATCH: Final = "NEURON_FLEET_SCRATCH"


@dataclass(frozen=True, slots=True)
class Figures:
    """What one rank did in one step. ``tokens`` are its own share; ``loss`` None: not looked at in this step."""

    tokens: int
    loss: float | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """What a script must be able to do, on every rank alike."""

    step: Callable[[int], Figures]
    write: Callable[[Path], None]
    """This rank's state, into a directory."""
    load: Callable[[Path], None]


def scratch_of(environment: Mapping[str, str]) -> Path:
    """A folder on the node's own disk."""
    return Path(environment.get(_SCRATCH, "/scratch"))


def run_directory(environment: Mapping[str, str]) -> Path:
    """Where the node's agent leaves its markers, and listens."""
    return Path(environment.get(_RUN_DIRECTORY, RUN_DIRECTORY))


def saver_of(environment: Mapping[str, str], scratch: Path, drain: Drain | None = None) -> Saver:
    """From torchrun's variables and those of the submission."""
    member = Member(
        run_name(environment),
        int(environment["RANK"]),
        int(environment["WORLD_SIZE"]),
        job=environment.get("AWS_BATCH_JOB_ID", ""),
    )
    steps, minutes = (environment.get(f"NEURON_FLEET_CHECKPOINT_{unit}") for unit in ("STEPS", "MINUTES"))
    seconds = float(minutes) * 60 if minutes else (None if steps else _LONGEST_SECONDS)
    schedule = Schedule(every_steps=int(steps) if steps else None, longest_seconds=seconds)
    store = open_store(environment["NEURON_FLEET_CHECKPOINT"])
    saver = Saver(store, member, scratch, drain or Drain(run_directory(environment)), _habits(environment, schedule))
    saver.hints = Hints(member.rank, member.job, unix=run_directory(environment) / SOCKET.name)
    return saver


def _habits(environment: Mapping[str, str], schedule: Schedule) -> Habits:
    """A store that is seen late (EFS, NFS) needs orders further ahead; one that is near, less."""
    usual = Habits(schedule)
    ahead, look = (environment.get(f"CHECKPOINT_{name}_SECONDS") for name in ("AHEAD", "LOOK"))
    return replace(
        usual,
        ahead_seconds=float(ahead) if ahead else usual.ahead_seconds,
        look_seconds=float(look) if look else usual.look_seconds,
    )


def train(saver: Saver, last: int, work: Work, environment: Mapping[str, str] = os.environ) -> bool:
    """Every step up to ``last`` that is not done yet. False: the node drains, and the rest is for the next start."""
    resumed = saver.resume()
    if resumed is not None:
        work.load(resumed.directory)
    first = 1 if resumed is None else resumed.step + 1
    with saver.listening():
        for step in range(first, last + 1):
            report(_step(work, step, environment, is_first=step == first), environment)
            if saver.wants(step):
                with saver.save(step) as directory:
                    work.write(directory)
            if saver.ends(step):
                ask_again(environment)
                return False
    return True


def _step(work: Work, step: int, environment: Mapping[str, str], *, is_first: bool) -> Figures:
    try:
        return work.step(step)
    except Exception:
        # What went well before and fails now has rather lost a peer than a bug: Batch looks at the main node's end
        # only. The fleet's job_attempts bounds how often that guess is acted on.
        if not is_first:
            ask_again(environment)
        raise


def ask_again(environment: Mapping[str, str]) -> None:
    """Let the launcher end with the code at which the job is started again."""
    if marker := environment.get(RESUME_FILE):
        Path(marker).touch()


def report(figures: Figures, environment: Mapping[str, str]) -> None:
    """Tell the node's agent, which may not be there: docs/workload-metrics.md."""
    tags = f"#job:{environment.get('AWS_BATCH_JOB_ID', '')},rank:{environment.get('RANK', '0')}"
    lines = [f"neuron_fleet.tokens:{figures.tokens}|c|{tags}"]
    if figures.loss is not None:
        lines.append(f"neuron_fleet.loss:{figures.loss}|g|{tags}")
    send("\n".join(lines), run_directory(environment) / SOCKET.name)
