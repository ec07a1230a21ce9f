"""What scenarios of simulation and backtest have in common: how phases follow each other, how a file is read."""

from pathlib import Path
from typing import Annotated, Generic, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from local.simulation.script import Phase, PhaseKind

Percent = Annotated[float, Field(ge=0, le=100)]
Minute = Annotated[int, Field(ge=0)]
"""Counted from the scenario's start."""
Index = Annotated[int, Field(ge=0)]
"""A node's number in its fleet."""


class ScenarioFileError(ValueError):
    """A scenario that cannot be used; the message is one line with the file, the path in it and the mistake."""


class Part(BaseModel):
    """A part of a scenario's file: what is not known in it is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ScriptedPhase(Part):
    """One stretch of a node's life, from minute ``at`` to the next phase."""

    at: Minute
    kind: PhaseKind
    tensor_engine_percent: Percent = 0.0
    core_percent: Percent = 0.0

    def from_start(self, start: float) -> Phase:
        """The phase in virtual time, where the scenario begins at unix second ``start``."""
        return Phase(start + self.at * 60, self.kind, self.tensor_engine_percent, self.core_percent)


P = TypeVar("P", bound=ScriptedPhase)


class Phases(Part, Generic[P]):
    """Phases one after the other from minute 0. ``exceptions`` replace, for a node, those from their first one on."""

    phases: Annotated[tuple[P, ...], Field(min_length=1)]
    exceptions: dict[int, tuple[P, ...]] = Field(default_factory=dict)

    def phases_of(self, node: int) -> tuple[P, ...]:
        """What ``node`` goes through."""
        exception = self.exceptions.get(node, ())
        if not exception:
            return self.phases
        return (*(phase for phase in self.phases if phase.at < exception[0].at), *exception)

    @model_validator(mode="after")
    def _phases_are_in_order(self) -> Self:
        if self.phases[0].at != 0:
            raise ValueError(f"phases[0].at: the first phase starts at minute 0, not {self.phases[0].at}")
        for each in (self.phases, *self.exceptions.values()):
            minutes = [phase.at for phase in each]
            if minutes != sorted(set(minutes)):
                raise ValueError(f"phases: each starts after the one before, not at minutes {minutes}")
        return self


S = TypeVar("S", bound=Part)


def read(path: Path, scenario: type[S]) -> S:
    """The ``scenario`` in ``path``.

    Raises:
        ScenarioFileError: No such file, not YAML, or not such a scenario.
    """
    try:
        return scenario.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ScenarioFileError(f"{path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ScenarioFileError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ScenarioFileError(f"{path}: {place or 'the file'}: {first['msg']}") from error
