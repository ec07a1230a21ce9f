"""Recorded neuron-monitor output as a replayed node's lines, and as a scenario of its own."""

from pathlib import Path

import msgspec

from agents.errors import UnreadableLineError
from agents.monitor.decode.parse import parse
from local.replay.node import Lines
from local.replay.scenario import Fleet, Scenario
from local.replay.store import MINUTE
from local.scenario_file import ScenarioFileError

_MOST_MINUTES = 24 * 60


def recorded(path: Path, start: int, period_seconds: int) -> Lines:
    """The lines of ``path``, one every ``period_seconds`` from unix second ``start`` on; silence when they have ended.

    Raises:
        ScenarioFileError: the file cannot be read.
    """
    lines = _lines(path)
    in_a_minute = MINUTE // period_seconds

    def of_minute(index: int) -> list[tuple[float, bytes]]:
        begin = start + index * MINUTE
        taken = lines[index * in_a_minute : (index + 1) * in_a_minute]
        return [(begin + at * period_seconds, line) for at, line in enumerate(taken)]

    return of_minute


def as_scenario(path: Path, period_seconds: int) -> Scenario:
    """A scenario of one node that prints ``path``, a file of JSON Lines, and of which nothing is expected.

    Raises:
        ScenarioFileError: the file cannot be read, or no line of it says what instance it is of.
    """
    lines = _lines(path)
    kind = next((found for line in lines if (found := _instance_type(line))), None)
    if kind is None:
        raise ScenarioFileError(f"{path}: no line in it is neuron-monitor output with an instance type")
    minutes = min(_MOST_MINUTES, max(1, -(-len(lines) * period_seconds // MINUTE)))
    fleet = Fleet(instance_type=kind, nodes=1, recording=path.name)
    return Scenario(name=path.stem, title=f"{len(lines)} recorded lines", minutes=minutes, fleets={"recorded": fleet})


def _lines(path: Path) -> list[bytes]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScenarioFileError(f"{path}: {error.strerror}") from error
    try:
        # One pretty-printed object spans lines; a recording has one object on each.
        return [msgspec.json.format(data, indent=-1)]
    except msgspec.DecodeError:
        return [line for line in data.splitlines() if line.strip()]


def _instance_type(line: bytes) -> str | None:
    try:
        return parse(line).instance_type
    except UnreadableLineError:
        return None
