"""What the function needs of the world. ``adapters`` speaks to AWS; tests bring a world of their own."""

from dataclasses import dataclass
from typing import Protocol

from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.precompilation import Precompilation
from fleet.compile_cache.request import PrecompileRequest


class ConflictError(Exception):
    """Another execution has written since; Step Functions tries again."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fleet's graphs are compiled: ARNs of the job queue and the job definition, and the owner's share.

    ``tags`` are those of its jobs.
    """

    queue: str
    definition: str
    share: str
    tags: dict[str, str]


class Artifacts(Protocol):
    """The bucket."""

    def request(self, key: str) -> PrecompileRequest:
        """The request in an object. Raises RequestError when there is none, or it is not one."""
        ...

    def missing(self, artifact: Artifact) -> str:
        """Why an artifact is not there, whole, in one line; nothing when it is."""
        ...

    def graphs(self, artifact: Artifact) -> int:
        """How many graphs an artifact has that is there."""
        ...

    def last_words(self, artifact: Artifact, job_id: str) -> str:
        """What the job left about why it failed; nothing when it left nothing."""
        ...


class Runs(Protocol):
    """Who precompiles what."""

    def read(self, artifact: Artifact) -> Precompilation | None:
        """The last one of an artifact, as it is now."""
        ...

    def write(self, artifact: Artifact, seen: Precompilation | None, new: Precompilation) -> None:
        """Put ``new`` in the place of ``seen``. Raises ConflictError when something else is there by now."""
        ...

    def lives(self, run: Precompilation, now: float) -> bool:
        """Whether the execution that holds it still runs."""
        ...


class Places(Protocol):
    """Where the fleets compile. Attribute: ``fleets``, the training fleets there are."""

    fleets: tuple[str, ...]

    def of(self, fleet: str) -> Place:
        """The place of one of ``fleets``."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All of it. Each call may raise what botocore raises."""

    artifacts: Artifacts
    runs: Runs
    places: Places
