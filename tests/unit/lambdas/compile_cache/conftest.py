"""A world in memory: a bucket, who compiles, and the places of two fleets."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.precompilation import Precompilation
from fleet.compile_cache.request import PrecompileRequest, RequestError
from lambdas.compile_cache.adapters import Dependencies, JobQueue
from lambdas.compile_cache.runs import ConflictError


@dataclass
class Account:
    """``there`` counts the graphs of artifacts, by prefix; ``alive`` are executions; ``words`` those of failed jobs."""

    fleets: tuple[str, ...] = ("trn1-pretrain", "trn2-frontier")
    there: dict[str, int] = field(default_factory=dict)
    objects: dict[str, PrecompileRequest] = field(default_factory=dict)
    held: dict[str, Precompilation] = field(default_factory=dict)
    alive: set[str] = field(default_factory=set)
    words: dict[str, str] = field(default_factory=dict)

    def world(self, *_: object) -> Dependencies:
        parts: Any = self
        return Dependencies(artifacts=parts, runs=parts, queues=parts)

    def request(self, key: str) -> PrecompileRequest:
        if key not in self.objects:
            raise RequestError(f"{key}: there is no such object")
        return self.objects[key]

    def missing(self, artifact: Artifact) -> str:
        return "" if self.there.get(artifact.prefix) else f"{artifact.prefix}: not compiled"

    def graphs(self, artifact: Artifact) -> int:
        return self.there[artifact.prefix]

    def last_words(self, _: Artifact, job_id: str) -> str:
        return self.words.get(job_id, "")

    def read(self, artifact: Artifact) -> Precompilation | None:
        return self.held.get(artifact.prefix)

    def write(self, artifact: Artifact, seen: Precompilation | None, new: Precompilation) -> None:
        if self.held.get(artifact.prefix) != seen:
            raise ConflictError(artifact.prefix)
        self.held[artifact.prefix] = new

    def lives(self, run: Precompilation, _: float) -> bool:
        return run.holder in self.alive

    def of(self, fleet: str) -> JobQueue:
        return JobQueue(f"queue-of-{fleet}", f"definition-of-{fleet}", "foundationmodels", {"fleet": fleet})


@pytest.fixture
def account() -> Account:
    return Account()
