"""A workload that reports over the agent's sockets."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agents.collectors.workload.collector import SOCKET_NAME, WorkloadCollector


@contextmanager
def listening(folder: Path, port: int | None = 0) -> Iterator[WorkloadCollector]:
    """A collector on a free port, with its Unix socket in ``folder`` and its ``proc`` below it."""
    collector = WorkloadCollector(port, folder, folder / "proc")
    try:
        yield collector
    finally:
        collector.receiver.close()


def say(collector: WorkloadCollector, *lines: str) -> None:
    """Send ``lines`` in one UDP datagram."""
    send(collector, "\n".join(lines).encode())


def send(collector: WorkloadCollector, data: bytes) -> None:
    """Send one UDP datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(data, ("127.0.0.1", collector.receiver.port or 0))


def say_locally(folder: Path, *lines: str) -> None:
    """Send ``lines`` in one datagram of the Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto("\n".join(lines).encode(), str(folder / SOCKET_NAME))
