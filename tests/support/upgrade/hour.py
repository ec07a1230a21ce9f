"""An hour of nodes by the agent of whatever version this runs on: the agent's own pipeline over what a monitor prints.

    python hour.py NODES

``NODES`` are the numbers of those that run this version, of a fleet of four. It prints {"events", "metrics"}: the log
events, and the metrics that this version knows, each with its unit and dimensions.
"""

import json
import sys
from collections.abc import Iterable
from typing import Any, Final

from agents.minute.log_event import log_event
from fleet.metrics import CATALOGUE
from local.replay.life import life
from local.replay.lines import Printer
from local.replay.node import ReplayedNode
from local.replay.scenario import Scenario

START: Final = 1_795_230_000
MINUTES: Final = 60
PERIOD: Final = 20
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


def events(nodes: Iterable[int]) -> list[dict[str, Any]]:
    """The log events of these nodes, as they are sent."""
    scenario, printer, found = Scenario.model_validate(SCENARIO), Printer(PERIOD), []
    for index in nodes:
        node = ReplayedNode("pretrain", life(scenario, "pretrain", index, START), START, printer, PERIOD)
        for minute in range(MINUTES):
            entry, _ = node.minute(minute, reachable=True)
            found.append(json.loads(json.dumps(log_event(entry)))) if entry else None
    return found


def metrics() -> dict[str, list[Any]]:
    """Unit and dimensions by name."""
    return {name: [spec.unit.value, sorted(spec.dimension_sets)] for name, spec in CATALOGUE.items()}


if __name__ == "__main__":
    told = {"events": events(map(int, sys.argv[1:])), "metrics": metrics()}
    sys.stdout.write(json.dumps(told))
