"""The emulator as a process: a taken port, its end, and its children."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil

from tests.unit.local.emulator.conftest import ROOT, start_emulator
from tests.unit.local.emulator.test_live import _zipped


def test_a_taken_port_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "local.emulator", "--port", str(port), "--state-directory", str(tmp_path)]

        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)

    assert ended.returncode == 1
    assert ended.stderr == f"port {port} on 127.0.0.1: Address already in use; choose another with --port\n"
    assert list(tmp_path.iterdir()) == []


def test_it_ends_with_its_parent_and_leaves_no_lambda_worker_behind(tmp_path: Path) -> None:
    parent = subprocess.Popen(["sleep", "60"])
    emulator = start_emulator(tmp_path, "--parent", str(parent.pid))
    functions = emulator.client("lambda")
    functions.create_function(
        FunctionName="warm",
        Runtime="python3.14",
        Handler="pager.handler",
        Role="arn:aws:iam::000000000000:role/warm",
        Code={"ZipFile": _zipped("import os\n\ndef handler(event, context):\n    return os.getpid()\n")},
    )
    worker = int(functions.invoke(FunctionName="warm")["Payload"].read())
    assert psutil.pid_exists(worker)

    parent.kill()
    parent.wait(timeout=60)

    assert emulator.process.wait(timeout=60) == 0
    assert not psutil.pid_exists(worker)
    assert os.listdir(tmp_path / "tmp") == []  # noqa: PTH208  names are enough
