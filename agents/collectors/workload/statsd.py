"""Lines of the DogStatsD protocol, as far as the agent's own names need it. ``docs/workload-metrics.md`` lists them.

``name:value[:value…]|type[|@rate][|#tag:value,…]``; other fields of DogStatsD's (container, timestamp) are skipped.
Gauges are absolute, also with a sign: plain StatsD would add a signed one to the last, and a loss may be negative.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agents.collectors.jobs.job import dimension_value
from agents.errors import MalformedLineError

PREFIX: Final = b"neuron_fleet."
# CloudWatch takes no value beyond 2^360 either way.
_LARGEST_LOSS: Final = 2.0**360
_LARGEST: Final = 1e18
_LONGEST_RANK: Final = 16
_COUNTER, _GAUGE, _TIMING = "c", "g", frozenset({"ms", "h", "d"})
PHASES: Final = ("checkpoint", "validation", "evaluation", "data-preparation", "rollout", "waiting")
ANNOUNCING: Final = frozenset({"checkpoint", "phase"})
# Which type each name has to be.
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "tokens": frozenset({_COUNTER}),
    "samples": frozenset({_COUNTER}),
    "tokens_per_second": frozenset({_GAUGE}),
    "samples_per_second": frozenset({_GAUGE}),
    "loss": frozenset({_GAUGE}),
    "step": frozenset({_GAUGE}),
    "checkpoint": frozenset({_GAUGE}),
    "phase": frozenset({_GAUGE}),
    "requests_in_flight": frozenset({_GAUGE}),
    "queue_seconds": _TIMING,
    "step_seconds": _TIMING,
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One line. ``job`` and ``rank`` are empty where the tags do not say; only a ``loss`` may be NaN or infinite.

    ``phase`` is what a line announces, for so many ``minutes`` at most; a ``checkpoint`` is one.
    """

    name: str
    values: tuple[float, ...]
    job: str
    rank: str
    phase: str = ""
    minutes: float | None = None


def parse(line: bytes) -> Sample | None:
    """What ``line`` says; None when it is a metric of somebody else.

    Raises:
        MalformedLineError: an unknown name, type or phase, a value that is no number or out of range, or not UTF-8.
    """
    if not line.startswith(PREFIX):
        return None
    try:
        text = line[len(PREFIX) :].decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedLineError("not UTF-8") from None
    head, *fields = text.split("|")
    name, _, packed = head.partition(":")
    kind = fields[0] if fields else ""
    if name not in _TYPES:
        raise MalformedLineError("unknown name")
    if kind not in _TYPES[name]:
        raise MalformedLineError(f"{name} cannot be of this type")
    scale = 1.0
    tags: Mapping[str, str] = {}
    for field in fields[1:]:
        if field.startswith("@"):
            scale = _scale(field[1:]) if kind == _COUNTER else 1.0
        elif field.startswith("#"):
            tags = dict(tag.partition(":")[::2] for tag in field[1:].split(","))
    factor = 0.001 if kind == "ms" else 1.0
    values = tuple(_value(name, value) * scale * factor for value in packed.split(":"))
    return Sample(name, values, _job(tags), tags.get("rank", "")[:_LONGEST_RANK], *_phase(name, tags))


def _value(name: str, text: str) -> float:
    value = _number(text)
    if name == "loss":
        return value if abs(value) <= _LARGEST_LOSS else math.inf
    if not 0 <= value <= _LARGEST:
        raise MalformedLineError(f"{name} is out of range")
    return value


def _scale(text: str) -> float:
    rate = _number(text)
    if not 1e-6 <= rate <= 1:
        raise MalformedLineError("the sample rate is out of range")
    return 1 / rate


def _number(text: str) -> float:
    try:
        # Python alone reads 1_000 as a number.
        return float(text) if "_" not in text else float("")
    except ValueError:
        raise MalformedLineError("a value is no number") from None


def _phase(name: str, tags: Mapping[str, str]) -> tuple[str, float | None]:
    if name not in ANNOUNCING:
        return "", None
    phase = tags.get("phase", "") if name == "phase" else name
    if phase not in PHASES:
        raise MalformedLineError("unknown phase")
    minutes = _number(tags["minutes"]) if tags.get("minutes") else None
    if minutes is not None and not 0 <= minutes <= _LARGEST:
        raise MalformedLineError("minutes is out of range")
    return phase, minutes


def _job(tags: Mapping[str, str]) -> str:
    # The nodes of one multi-node Batch job call it <job>#<index>.
    job = tags.get("job", "").partition("#")[0]
    return dimension_value(job) if job else ""
