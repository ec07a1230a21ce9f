"""Who precompiles an artifact: one at a time, and whoever asks for the same in the meantime waits for the outcome.

A holder is an execution of the state machine. Whether it lives is asked of Step Functions and not guessed from a clock:
it may wait for a node for hours. ``token`` grows with every holder, and is what a write is conditional on.
"""

from dataclasses import dataclass, replace
from typing import Final

from fleet.string_enum import StringEnum

_REASON_LIMIT: Final = 1000


class Stage(StringEnum):
    """What became of the last precompilation of an artifact."""

    COMPILING = "compiling"
    DONE = "done"
    FAILED = "failed"


class Step(StringEnum):
    """What an execution does about an artifact that is not there."""

    COMPILE = "compile"
    WAIT = "wait"
    GIVE_UP = "give up"


@dataclass(frozen=True, slots=True)
class Precompilation:
    """``holder`` is an execution's ARN; ``changed`` unix seconds; ``reason`` of a failure, in one line."""

    token: int
    stage: Stage
    holder: str
    changed: float
    reason: str = ""


def advise(seen: Precompilation | None, me: str, *, lives: bool, waited_for: int | None) -> Step:
    """The step of the execution ``me``.

    ``lives``: whether the holder of ``seen`` still runs. ``waited_for``: the token of whom ``me`` has waited for.
    """
    if seen is None:
        return Step.COMPILE
    if seen.stage is Stage.COMPILING and seen.holder != me and lives:
        return Step.WAIT
    # Whoever waited wanted what the other has failed at, and would fail at the same for the price of a node. Whoever
    # asks later wants it tried again.
    if seen.stage is Stage.FAILED and seen.token == waited_for:
        return Step.GIVE_UP
    return Step.COMPILE


def take(seen: Precompilation | None, me: str, now: float) -> Precompilation:
    """What the execution ``me`` writes before it compiles; what it has taken already stays."""
    if seen is not None and seen.stage is Stage.COMPILING and seen.holder == me:
        return seen
    return Precompilation((seen.token if seen else 0) + 1, Stage.COMPILING, me, now)


def conclude(held: Precompilation, reason: str, now: float) -> Precompilation:
    """What its holder writes at the end: a failure if there is a ``reason``."""
    stage = Stage.FAILED if reason else Stage.DONE
    return replace(held, stage=stage, changed=now, reason=reason[:_REASON_LIMIT])
