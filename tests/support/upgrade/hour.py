"""An hour of nodes by the agent of whatever version this runs on: the agent's own pipeline over what a monitor prints.

    python hour.py events NODES
    python hour.py spool FOLDER
    python hour.py unspool FOLDER

``NODES`` are the numbers of those that run this version, of a fleet of four. ``events`` prints {"events", "metrics"}:
the log events, and the metrics that this version knows, each with its unit and dimensions. ``spool`` leaves the minutes
of node 0 as batches that nobody has confirmed, and ``unspool`` prints the log events of the batches that it finds.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from agents.disk.spool import Spool
from agents.minute.aggregate import metric_data
from agents.minute.batch import Batch, NodeMinute
from agents.minute.log_event import log_event
from fleet.metrics import CATALOGUE
from local.replay.life import life
from local.replay.node import Printer, ReplayedNode
from local.replay.scenario import Scenario

START: Final = 1_795_230_000
MINUTES: Final = 60
PERIOD: Final = 20
LANE: Final = "logs"
SCENARIO: Final[dict[str, Any]] = {
    "name": "upgrade",
    "title": "A fleet of four nodes in a day of an upgrade",
    "minutes": MINUTES,
    "fleets": {
        "pretrain": {
            "instance_type": "trn1.32xlarge",
            "nodes": 4,
            "jobs": [
                {
                    "id": "llama-7b",
                    "owner": "ana",
                    "phases": [
                        {"at": 0, "kind": "startup"},
                        {"at": 5, "kind": "compiling"},
                        {"at": 15, "kind": "running", "tensor_engine_percent": 42, "core_percent": 97},
                        {"at": 35, "kind": "checkpoint"},
                        {"at": 38, "kind": "running", "tensor_engine_percent": 42, "core_percent": 97},
                        # The data loader stalls, on all four: cores look busy and the tensor engines are not.
                        {"at": 45, "kind": "data_stall", "tensor_engine_percent": 6, "core_percent": 60},
                    ],
                }
            ],
        }
    },
}


def minutes(nodes: Iterable[int]) -> Iterator[NodeMinute]:
    """The hour of these nodes."""
    scenario, printer = Scenario.model_validate(SCENARIO), Printer(PERIOD)
    for index in nodes:
        node = ReplayedNode("pretrain", life(scenario, "pretrain", index, START), START, printer, PERIOD)
        for minute in range(MINUTES):
            entry, _ = node.minute(minute, reachable=True)
            if entry is not None:
                yield entry


def events(nodes: Iterable[int]) -> list[dict[str, Any]]:
    """The log events of these nodes, as they are sent."""
    return [json.loads(json.dumps(log_event(entry))) for entry in minutes(nodes)]


def spool(folder: Path) -> None:
    """What waits on a node's disk after an hour without AWS."""
    waiting = Spool(folder, (LANE,))
    for entry in minutes([0]):
        waiting.put(LANE, Batch(entry.minute, entry.seq, "stream", metric_data(entry), log_event(entry)))


def unspool(folder: Path) -> list[dict[str, Any]]:
    """The log events that wait there, the oldest first."""
    waiting = Spool(folder, (LANE,))
    batches = [waiting.read(LANE, name) for name in reversed(waiting.newest_first(LANE))]
    return [json.loads(json.dumps(batch.log_event)) for batch in batches if batch is not None]


def metrics() -> dict[str, list[Any]]:
    """Unit and dimensions by name."""
    return {name: [spec.unit.value, sorted(spec.dimension_sets)] for name, spec in CATALOGUE.items()}


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "spool":
        spool(Path(given[0]))
    elif what == "unspool":
        sys.stdout.write(json.dumps(unspool(Path(given[0]))))
    else:
        sys.stdout.write(json.dumps({"events": events(map(int, given)), "metrics": metrics()}))
