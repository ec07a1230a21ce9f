"""A scenario: what happens to an environment's fleets over some virtual hours, and which pages must come of it.

Read from ``local/scenarios/*.yaml``. Minutes count from the scenario's start.
"""

from pathlib import Path
from typing import Annotated, Final, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from local.simulation.protocol import PhaseKind

SCENARIOS: Final = Path(__file__).parents[1] / "scenarios"
Percent = Annotated[float, Field(ge=0, le=100)]
Minute = Annotated[int, Field(ge=0)]


class ScenarioFileError(ValueError):
    """A scenario that cannot be used; the message is one line with the file, the path in it and the mistake."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScriptedPhase(_Model):
    """One stretch of a node's life, from minute ``at`` to the next phase."""

    at: Minute
    kind: PhaseKind
    tensor_engine_percent: Percent = 0.0
    core_percent: Percent = 0.0
    device: Annotated[int, Field(ge=0)] = 0
    """The device that a hardware error happens on."""


class Job(_Model):
    """What the registration file on every node of the fleet says; an endpoint's have the node's index behind the id."""

    id: str
    name: str
    owner: str


class FleetScript(_Model):
    """One fleet. ``exceptions`` replaces, for a node by its index, the phases from the exception's first one on."""

    job: Job | None = None
    runtimes: Annotated[int, Field(ge=1)] = 4
    """Processes on each node that hold cores; each lists all cores of the node."""
    phases: Annotated[tuple[ScriptedPhase, ...], Field(min_length=1)]
    exceptions: dict[int, tuple[ScriptedPhase, ...]] = {}
    requests_per_minute: Annotated[int, Field(ge=0)] = 1200
    """Traffic of the fleet's endpoint, if it has one."""

    def phases_of(self, node: int) -> tuple[ScriptedPhase, ...]:
        """What node ``node`` goes through."""
        exception = self.exceptions.get(node, ())
        if not exception:
            return self.phases
        return (*(phase for phase in self.phases if phase.at < exception[0].at), *exception)

    @model_validator(mode="after")
    def _phases_are_in_order(self) -> Self:
        if self.phases[0].at != 0:
            raise ValueError(f"phases[0].at: the first phase starts at minute 0, not {self.phases[0].at}")
        for phases in (self.phases, *self.exceptions.values()):
            minutes = [phase.at for phase in phases]
            if minutes != sorted(set(minutes)):
                raise ValueError(f"phases: each starts after the one before, not at minutes {minutes}")
        return self


class ExpectedPage(_Model):
    """A page that must arrive, and by when. ``nodes`` are the indexes of nodes that it must name."""

    fleet: str
    alarm: str
    earliest_minute: Minute
    latest_minute: Minute
    resolves: bool = False
    nodes: tuple[int, ...] = ()


class ExpectedTicket(_Model):
    """A notification that may come along without waking anyone."""

    fleet: str
    alarm: str


class Scenario(_Model):
    """The whole story."""

    name: str
    title: str
    minutes: Annotated[int, Field(ge=1, le=24 * 60)]
    seed: int = 1
    fleets: Annotated[dict[str, FleetScript], Field(min_length=1)]
    expected_pages: tuple[ExpectedPage, ...] = ()
    expected_tickets: tuple[ExpectedTicket, ...] = ()

    @model_validator(mode="after")
    def _expectations_name_fleets(self) -> Self:
        named = [page.fleet for page in self.expected_pages] + [ticket.fleet for ticket in self.expected_tickets]
        for name in named:
            if name not in self.fleets:
                raise ValueError(f"expected: no fleet is called {name}; there are {', '.join(self.fleets)}")
        return self


def load(path: Path) -> Scenario:
    """The scenario in ``path``.

    Raises:
        ScenarioFileError: No such file, not YAML, or not a scenario.
    """
    try:
        return Scenario.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ScenarioFileError(f"{path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ScenarioFileError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ScenarioFileError(f"{path}: {place or 'the file'}: {first['msg']}") from error
