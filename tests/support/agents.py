"""A configured agent for tests, and a clock that a test moves."""

import queue
from collections.abc import Callable
from typing import Any, TypeVar

from agents.config import AgentConfig, PriceConfig
from agents.minute.batch import NodeMinute, SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from tests.support import samples
from tests.support.samples import Json

T = TypeVar("T")
MINUTE = 1_795_230_000


def config(**changes: Any) -> AgentConfig:
    """A node of a trn1 fleet that costs 20 USD an hour."""
    fields: dict[str, Any] = {
        "environment": "test",
        "fleet": "pretrain",
        "owner": "models",
        "region": "us-east-2",
        "purpose": "training",
        "node": "i-1",
        "price": PriceConfig(20.0, "on-demand", "price list", "2026-11-01"),
        "log_group": "/neuron-fleet/test/nodes",
    }
    return AgentConfig(**{**fields, **changes})


def one_minute(
    *reports: Json, around: Surroundings | None = None, own: SelfFigures | None = None, **changes: Any
) -> NodeMinute:
    """One minute with ``reports`` five seconds apart from its start, and its verdict at the last one's end."""
    pipeline = Pipeline(config(**changes), "i-1", MINUTE)
    return feed(pipeline, MINUTE, *reports, around=around, own=own)


def feed(
    pipeline: Pipeline,
    minute: int,
    *reports: Json,
    around: Surroundings | None = None,
    own: SelfFigures | None = None,
) -> NodeMinute:
    """The next minute of ``pipeline``."""
    for index, made in enumerate(reports):
        pipeline.line(samples.line(made), minute + 5 * index)
    end = minute + (5 * len(reports) if reports else 60)
    return pipeline.close(minute, end, 1, around or Surroundings(), own or SelfFigures())


class VirtualClock:
    """Time that passes only while the agent waits. ``schedule`` puts items on the queue at given times."""

    def __init__(self, now: float) -> None:
        self._now = now
        self._due: list[tuple[float, Callable[[], None]]] = []

    def now(self) -> float:
        """Virtual unix seconds."""
        return self._now

    def schedule(self, at: float, action: Callable[[], None]) -> None:
        """Do ``action`` when the clock reaches ``at``."""
        self._due.append((at, action))
        self._due.sort(key=lambda entry: entry[0])

    def get(self, events: "queue.Queue[T]", timeout: float) -> T:
        """The next item, moving time to when it is put there."""
        deadline = self._now + timeout
        while events.empty() and self._due and self._due[0][0] <= deadline:
            at, action = self._due.pop(0)
            self._now = max(self._now, at)
            action()
        if events.empty():
            self._now = max(self._now, deadline)
        return events.get_nowait()
