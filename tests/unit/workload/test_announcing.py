"""What a job does besides training reaches the agent's own parser, repeated while it lasts, and holds nobody up."""

import socket
from contextlib import suppress
from pathlib import Path

import pytest

from agents.collectors.workload.statsd import parse
from workload import node_agent
from workload.node_agent import Hints


def heard(agent: socket.socket) -> list[tuple[str, float, str, str, float | None]]:
    """Name, value, job, phase and minutes of every line that has come."""
    found = []
    agent.setblocking(False)
    try:
        while True:
            for line in agent.recv(8192).splitlines():
                sample = parse(line)
                assert sample is not None
                found.append((sample.name, sample.values[0], sample.job, sample.phase, sample.minutes))
    except BlockingIOError:
        return found


def test_a_phase_is_announced_while_it_lasts_also_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_agent, "_REPEAT_SECONDS", 0.01)
    path = tmp_path / "statsd.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as agent:
        agent.bind(str(path))
        with suppress(ZeroDivisionError), Hints(3, "a", unix=path).phase("validation", minutes=45):
            began = heard(agent)
            agent.settimeout(5)
            again = agent.recv(8192)
            raise ZeroDivisionError
        ended = heard(agent)

    assert began[0] == ("phase", 1.0, "a", "validation", 45.0)
    assert again == b"neuron_fleet.phase:1|g|#job:a,rank:3,phase:validation,minutes:45"
    assert ended[-1] == ("phase", 0.0, "a", "validation", 45.0)


def test_without_an_agent_a_phase_is_worked_through_all_the_same(tmp_path: Path) -> None:
    with Hints(0, unix=tmp_path / "none", address=("127.0.0.1", 9)).phase("data-preparation"):
        pass
