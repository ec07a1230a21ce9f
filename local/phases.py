"""Phases of a scenario, one after the other from minute 0, and what some nodes go through instead."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar


class Phase(Protocol):
    """One stretch, from minute ``at`` to the next phase."""

    @property
    def at(self) -> int:
        """The minute that it begins in."""
        ...


P = TypeVar("P", bound=Phase)


def phases_of_node(phases: tuple[P, ...], exceptions: Mapping[int, tuple[P, ...]], node: int) -> tuple[P, ...]:
    """What ``node`` goes through: ``phases``, which its exception replaces from the exception's first one on."""
    exception = exceptions.get(node, ())
    if not exception:
        return phases
    return (*(phase for phase in phases if phase.at < exception[0].at), *exception)


def check_phases(phases: Sequence[Phase], exceptions: Mapping[int, Sequence[Phase]]) -> None:
    """Raise ValueError unless the first begins at minute 0 and each after the one before."""
    if phases[0].at != 0:
        raise ValueError(f"phases[0].at: the first phase starts at minute 0, not {phases[0].at}")
    for each in (phases, *exceptions.values()):
        minutes = [phase.at for phase in each]
        if minutes != sorted(set(minutes)):
            raise ValueError(f"phases: each starts after the one before, not at minutes {minutes}")
