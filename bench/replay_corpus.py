"""Seconds to replay a scenario, beside building and parsing the same number of neuron-monitor's lines one by one."""

import time

from agents.monitor.decode.parse import parse
from local.replay.life import life
from local.replay.run import OURS, PERIOD_SECONDS, SETS, replay
from local.replay.scenario import CORPUS, Scenario, load
from local.simulation.report import ReportBuilder

SCENARIO = "healthy-evaluations"


def run() -> None:
    """Print both and their ratio: equal lines are built and parsed once, all that follows is done for each."""
    scenario = load(CORPUS / f"{SCENARIO}.yaml")
    start = time.perf_counter()
    replay(scenario, {OURS: SETS[OURS]}, CORPUS)
    middle = time.perf_counter()
    _build_and_parse(scenario)
    end = time.perf_counter()
    print(
        f"replay of {scenario.node_hours:.0f} node-hours: {middle - start:.2f} s, its lines alone one by one: "
        f"{end - middle:.2f} s, ratio {(middle - start) / (end - middle):.2f}"
    )


def _build_and_parse(scenario: Scenario) -> None:
    for name, fleet in scenario.fleets.items():
        for index in range(fleet.nodes):
            builder = ReportBuilder(life(scenario, name, index, 0).script)
            for second in range(0, scenario.minutes * 60, PERIOD_SECONDS):
                parse(builder.line(second, float(PERIOD_SECONDS)))
