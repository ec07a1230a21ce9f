"""Runs all simulated nodes in lockstep: no node enters a minute before every node has ended the one before."""

import os
import selectors
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

import msgspec

from local.processes import stop
from local.simulation.node_spec import Arrived, NodeSpec

# Virtual seconds after a minute's end in which the agents publish that minute; the alarms look at it afterwards.
SETTLE_SECONDS: Final = 10.0
# Real seconds for one virtual minute of all nodes; the first one includes starting eight interpreters.
REAL_LIMIT_SECONDS: Final = 90.0


class NodeFailedError(RuntimeError):
    """A simulated node ended or does not answer; the message names the node, its log and the log's last lines."""


class SimulatedNode:
    """One node process and the pipe to it."""

    def __init__(self, spec: NodeSpec, log_file: Path, environment: dict[str, str]) -> None:
        self.spec = spec
        self._log_file = log_file
        Path(spec.root).mkdir(parents=True, exist_ok=True)
        with log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "local.simulation.node", msgspec.json.encode(spec).decode()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    @property
    def output(self) -> IO[bytes]:
        """Where the node reports its arrivals."""
        if self.process.stdout is None:
            raise RuntimeError("the node was started without a pipe")
        return self.process.stdout

    def release(self, horizon: float) -> None:
        """Let the node's time go on to ``horizon``."""
        self._write(f"{horizon}\n".encode())

    def take_arrival(self) -> None:
        """Read the arrival that is waiting in the pipe."""
        line = self.output.readline()
        if not line:
            raise self.failure("ended")
        msgspec.json.decode(line, type=Arrived)

    def failure(self, what: str) -> NodeFailedError:
        """The error that says what happened to this node."""
        tail = self._log_file.read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
        node = f"simulated node {self.spec.script.node} of {self.spec.fleet}"
        return NodeFailedError("\n".join([f"{node} {what}; the end of its log, {self._log_file}:", *tail]))

    def _write(self, text: bytes) -> None:
        if self.process.stdin is None:
            raise RuntimeError("the node was started without a pipe")
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise self.failure("ended") from error


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
        self.nodes: list[SimulatedNode] = []

    def __enter__(self) -> Self:
        self._log_directory.mkdir(parents=True, exist_ok=True)
        try:
            for spec in self._specs:
                node = SimulatedNode(spec, self._log_directory / f"{spec.script.node}.log", self._environment)
                self._stack.callback(stop, node.process)
                self.nodes.append(node)
            self._wait_for_all()
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
            node.release(minute_end + SETTLE_SECONDS)
        self._wait_for_all()

    def _wait_for_all(self) -> None:
        with selectors.DefaultSelector() as selector:
            for node in self.nodes:
                selector.register(node.output, selectors.EVENT_READ, node)
            while waiting := selector.get_map():
                ready = selector.select(REAL_LIMIT_SECONDS)
                if not ready:
                    late: SimulatedNode = next(iter(waiting.values())).data
                    raise late.failure(f"did not finish its minute within {REAL_LIMIT_SECONDS:.0f} s")
                for key, _ in ready:
                    key.data.take_arrival()
                    selector.unregister(key.fileobj)
