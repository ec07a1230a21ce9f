"""``fleet-agent run`` as a process, killed again and again, with an endpoint that stores and does not always say so."""

import json
import os
import signal
import subprocess
import sys
import threading
import zlib
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.disk.journal import Journal
from tests.support import samples
from tests.support.endpoint import Call, Endpoint, serving

LIMIT = 120.0
LIVES = 5
# Report number k completes 4 to the power of k executions: a sum says which reports are in it, and none is in twice.
LINES_A_LIFE = 4
MONITOR = """#!{python}
import os, signal, time
with open({pids!r}, "a") as pids:
    pids.write("%d\\n" % os.getpid())
template = open({template!r}).read()
for _ in range({lines}):
    with open({counter!r}, "ab") as counter:
        counter.write(b".")
        number = counter.tell() - 1
    os.write(1, template.replace('"completed":12345', '"completed":%d' % 4**number).encode())
    time.sleep(0.02)
signal.pause()
"""


def prepare(folder: Path) -> Path:
    """A monitor that prints four reports in each of its lives, and the agent's configuration."""
    spec = samples.RuntimeSpec(7, "a", {0: 50.0}, {0: 30e12}, {0: samples.GIB}, completed=12_345)
    (folder / "template").write_bytes(samples.line(samples.report([spec], devices=1, seconds=60.0)))
    monitor = folder / "neuron-monitor"
    monitor.write_text(
        MONITOR.format(
            python=sys.executable,
            template=str(folder / "template"),
            counter=str(folder / "counter"),
            pids=str(folder / "pids"),
            lines=LINES_A_LIFE,
        )
    )
    monitor.chmod(0o755)
    boot = folder / "proc/sys/kernel/random"
    boot.mkdir(parents=True)
    (boot / "boot_id").write_text("boot-1\n")
    path = folder / "agent.json"
    path.write_text(
        json.dumps(
            {
                "environment": "test",
                "fleet": "pretrain",
                "owner": "models",
                "region": "us-east-2",
                "purpose": "training",
                "node": "i-1",
                "log_group": "/g",
                "period_seconds": 60,
                "neuron_monitor": str(monitor),
                "run_directory": str(folder / "run"),
                "spool_directory": str(folder / "spool"),
                "proc": str(folder / "proc"),
                "sysfs": str(folder / "sys"),
                "kernel_log": str(folder / "kmsg"),
                "compile_cache": str(folder / "cache"),
                "statsd_port": 0,
                "instance_metadata": "",
            }
        )
    )
    return path


def journaled(folder: Path) -> dict[int, list[int]]:
    """Executions of the reports in the journal as it now is, by the number of their minute."""
    found = Journal(folder / "spool/journal").read()
    if found is None:
        return {}
    return {found.header.seq: [reading.sample.completed or 0 for reading in found.readings]}


def has_report(folder: Path, endpoint: Endpoint, number: int) -> bool:
    """Whether the agent has taken that report in: it is in the journal, or its minute has just ended."""
    if any(4**number in executions for executions in journaled(folder).values()):
        return True
    files = [path.read_bytes() for path in folder.glob("spool/logs/*.batch")]
    waiting = [json.loads(zlib.decompress(content))["log_event"] for content in files]
    events = [*arrived(endpoint), *waiting]
    return any(digits(event.get("executions_completed") or 0)[number] for event in events)


def arrived(endpoint: Endpoint) -> list[dict[str, Any]]:
    """The log events that the endpoint has stored."""
    calls = endpoint.of("PutLogEvents")
    return [json.loads(event["message"]) for call in calls for event in call.content["logEvents"]]


def digits(total: int) -> list[int]:
    """How often each report is in a sum of executions, if none is in it four times."""
    return [total // 4**number % 4 for number in range(LIVES * LINES_A_LIFE)]


def wait_until(condition: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Until ``condition`` holds; fails when the agent ends or the time is up."""
    tick = threading.Event()
    for _ in range(int(LIMIT / 0.02)):
        if condition():
            return
        assert process.poll() is None, log.read_text()
        tick.wait(0.02)
    pytest.fail(log.read_text())


def hangs_up_sometimes() -> Callable[[Call], tuple[int, str] | None]:
    """Every third call is stored and not answered; so is the first of each operation."""
    seen: dict[str, int] = defaultdict(int)

    def answer(call: Call) -> tuple[int, str] | None:
        seen[call.operation] += 1
        return None if seen[call.operation] % 3 == 1 else (200, "")

    return answer


def kill_monitors(folder: Path) -> None:
    """As systemd does with what a killed agent leaves in its control group."""
    pids = folder / "pids"
    for pid in pids.read_text().split() if pids.exists() else ():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    pids.unlink(missing_ok=True)


def environment(endpoint: Endpoint) -> dict[str, str]:
    return {
        **os.environ,
        "AWS_ENDPOINT_URL": endpoint.url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }


def test_what_five_agents_measured_arrives_although_four_of_them_were_killed(tmp_path: Path) -> None:
    config, log = prepare(tmp_path), tmp_path / "log"
    command = [sys.executable, "-m", "agents.main", "run", "--config", str(config)]
    at_death: dict[int, set[int]] = defaultdict(set)
    with serving() as endpoint:
        endpoint.answer = hangs_up_sometimes()
        for life in range(1, LIVES + 1):
            with log.open("ab") as output:
                process = subprocess.Popen(command, env=environment(endpoint), stderr=output)
            try:
                wait_until(partial(has_report, tmp_path, endpoint, life * LINES_A_LIFE - 2), process, log)
                process.send_signal(signal.SIGTERM if life == LIVES else signal.SIGKILL)
                process.wait(timeout=LIMIT)
            finally:
                process.kill()
                kill_monitors(tmp_path)
            for seq, executions in journaled(tmp_path).items():
                at_death[seq].update(executions)

        assert process.returncode == 0, log.read_text()
        events = arrived(endpoint)

    unique = {(event["node"], event["boot_id"], event["seq"]): event for event in events}
    for event in events:
        twin = unique[event["node"], event["boot_id"], event["seq"]]
        assert event.get("executions_completed") == twin.get("executions_completed")
    total = sum(event.get("executions_completed") or 0 for event in unique.values())
    assert total < 4 ** (LIVES * LINES_A_LIFE)
    times = digits(total)
    assert set(times) <= {0, 1}
    # What was in a journal when its agent was killed has arrived; so have three of each life's four reports.
    for taken in at_death.values():
        assert all(times[(one.bit_length() - 1) // 2] == 1 for one in taken)
    for life in range(LIVES):
        assert sum(times[life * LINES_A_LIFE : (life + 1) * LINES_A_LIFE]) >= LINES_A_LIFE - 1
    assert not list(tmp_path.glob("spool/*/*.batch"))
    assert not (tmp_path / "spool/journal").exists()
    sys.stdout.write(f"{len(events)} log events, {len(unique)} minutes, {sum(times)} of {len(times)} reports\n")
