"""What systemd hears of the agent."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agents.watchdog import Heart
from tests.unit.agents.test_command import write_config
from tests.unit.agents.test_run import Simulation


def listener(address: str) -> socket.socket:
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(address)
    heard.settimeout(30)
    return heard


def test_each_word_is_one_datagram_as_sd_notify_sends_it(tmp_path: Path) -> None:
    with listener(str(tmp_path / "notify")) as heard:
        heart = Heart(str(tmp_path / "notify"))
        heart.ready()
        heart.beat()
        heart.say("RUNNING: two\nlines")
        heart.stopping()

        words = [heard.recv(500) for _ in range(4)]

    assert words == [b"READY=1", b"WATCHDOG=1", b"STATUS=RUNNING: two lines", b"STOPPING=1"]


def test_the_name_of_an_abstract_socket_begins_with_an_at_sign(tmp_path: Path) -> None:
    name = f"neuron-fleet-{tmp_path.name}"
    with listener(f"\0{name}") as heard:
        Heart(f"@{name}").beat()

        assert heard.recv(500) == b"WATCHDOG=1"


def test_nobody_listening_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)

    Heart().beat()
    Heart(str(tmp_path / "gone")).beat()


def test_a_reader_that_hangs_does_not_hang_the_loop(tmp_path: Path) -> None:
    with listener(str(tmp_path / "full")) as full:
        heart = Heart(str(tmp_path / "full"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as filler:
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    filler.sendto(b"x", str(tmp_path / "full"))

        heart.beat()

        assert full.recv(500) == b"x"


def test_the_loop_says_that_it_is_ready_then_beats_and_says_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: list[str] = []
    monkeypatch.setattr(Heart, "_tell", lambda _, word: words.append(word))

    Simulation(tmp_path).run(125)

    assert words[0] == "READY=1"
    # A report every five seconds for 125 seconds is 25 turns, and two more end a minute.
    assert words.count("WATCHDOG=1") >= 25
    # Two whole minutes, and five seconds that are published after the end was announced.
    assert [word for word in words if not word.startswith("WATCHDOG")][1:] == [
        "STATUS=RUNNING: 3840 executions completed",
        "STATUS=RUNNING: 3840 executions completed",
        "STOPPING=1",
        "STATUS=RUNNING: 640 executions completed",
    ]


def test_a_real_agent_says_ready_only_with_a_usable_configuration_and_beats_until_it_is_told_to_end(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "agents.main", "run", "--config", str(write_config(tmp_path)), "--stdout"]
    with listener(str(tmp_path / "notify")) as heard:
        heard.settimeout(120)
        environment = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                words = [heard.recv(500), heard.recv(500)]
                process.terminate()
                while words[-1] != b"STOPPING=1":
                    words.append(heard.recv(500))
                process.communicate(timeout=120)
            finally:
                process.kill()

    assert words[:2] == [b"READY=1", b"WATCHDOG=1"]
    assert process.returncode == 0
