"""A scenario: what happens to an environment's fleets over some virtual hours, and which pages must come of it.

Read from ``local/scenarios/*.yaml``. Minutes count from the scenario's start.
"""

from pathlib import Path
from typing import Annotated, Final, Self

import msgspec
from pydantic import Field, model_validator

from local.scenario_file import Minute, Part, Phases, ScriptedPhase, read
from local.simulation.script import Phase

SCENARIOS: Final = Path(__file__).parents[1] / "scenarios"


class NodePhase(ScriptedPhase):
    """What a simulated node can go through: whatever its stand-in for neuron-monitor can show."""

    device: Annotated[int, Field(ge=0)] = 0
    """The device that a hardware error happens on."""

    def from_start(self, start: float) -> Phase:
        """With the device."""
        return msgspec.structs.replace(super().from_start(start), device=self.device)


class Job(Part):
    """What the registration file on every node of the fleet says; an endpoint's have the node's index behind the id."""

    id: str
    name: str
    owner: str


class FleetScript(Phases[NodePhase]):
    """One fleet."""

    job: Job | None = None
    runtimes: Annotated[int, Field(ge=1)] = 4
    """Processes on each node that hold cores; each lists all cores of the node."""
    requests_per_minute: Annotated[int, Field(ge=0)] = 1200
    """Traffic of the fleet's endpoint, if it has one."""


class ExpectedPage(Part):
    """A page that must arrive, and by when. ``nodes`` are the indexes of nodes that it must name."""

    fleet: str
    alarm: str
    earliest_minute: Minute
    latest_minute: Minute
    resolves: bool = False
    nodes: tuple[int, ...] = ()


class ExpectedTicket(Part):
    """A notification that may come along without waking anyone."""

    fleet: str
    alarm: str


class Scenario(Part):
    """The whole of it."""

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
    return read(path, Scenario)
