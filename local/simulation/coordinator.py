"""Runs all simulated nodes in lockstep, each as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from local.processes import stop
from local.simulation.lockstep import SETTLE_SECONDS, AgentProcess, Turn, wait_for_all
from local.simulation.script import NodeSpec


class Coordinator:
    """Starts the nodes on entry and leaves none behind on exit.

    They end as a machine that loses its power: a last, shorter minute would be a dip in every chart.
    """

    def __init__(self, specs: Sequence[NodeSpec], log_directory: Path, endpoint_url: str) -> None:
        self._specs = specs
        self._log_directory = log_directory
        self._environment = {
            **os.environ,
            "AWS_ENDPOINT_URL": endpoint_url,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH")])),
        }
        self._stack = ExitStack()
        self.nodes: list[AgentProcess] = []

    def __enter__(self) -> Self:
        self._log_directory.mkdir(parents=True, exist_ok=True)
        try:
            for spec in self._specs:
                node = _start(spec, self._log_directory / f"{spec.script.node}.log", self._environment)
                self._stack.callback(stop, node.process)
                self.nodes.append(node)
            wait_for_all(self.nodes)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def advance(self, minute_end: float) -> None:
        """Let every node live until ``minute_end`` and publish what it saw.

        Raises:
            NodeFailedError: A node ended, or took longer than the real-time limit.
        """
        for node in self.nodes:
            node.release(Turn(minute_end + SETTLE_SECONDS))
        wait_for_all(self.nodes)


def _start(spec: NodeSpec, log_file: Path, environment: dict[str, str]) -> AgentProcess:
    Path(spec.root).mkdir(parents=True, exist_ok=True)
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "local.simulation.node", msgspec.json.encode(spec).decode()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
    return AgentProcess(f"simulated node {spec.script.node} of {spec.fleet}", process, log_file)
