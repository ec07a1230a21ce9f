"""``fleet-agent run`` for real, with a monitor that prints one report."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents import main
from tests.support import samples


def write_config(folder: Path, **changes: Any) -> Path:
    monitor = folder / "neuron-monitor"
    (folder / "line").write_bytes(samples.line(samples.full_node()))
    monitor.write_text(
        f"#!{sys.executable}\nimport signal\nprint(open('{folder}/line').read(), flush=True)\nsignal.pause()\n"
    )
    monitor.chmod(0o755)
    path = folder / "agent.json"
    content = {
        "environment": "test",
        "fleet": "pretrain",
        "owner": "models",
        "region": "us-east-2",
        "purpose": "training",
        "node": "i-1",
        "log_group": "/g",
        "statsd_port": 0,
        "instance_metadata": "",
        "compile_cache": str(folder / "cache"),
        "neuron_monitor": str(monitor),
        "proc": str(folder / "proc"),
        "sysfs": str(folder / "sys"),
        "kernel_log": str(folder / "kmsg"),
        "run_directory": str(folder / "run"),
        "spool_directory": str(folder / "spool"),
        **changes,
    }
    path.write_text(json.dumps(content))
    return path


def test_the_command_measures_until_it_is_told_to_stop_and_publishes_what_it_has(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agents.main", "run", "--config", str(write_config(tmp_path)), "--stdout"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if "first readable report" in line:
                    break
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate(timeout=60)
        finally:
            process.kill()

    batches = [json.loads(line) for line in output.splitlines()]
    assert process.returncode == 0
    assert batches[-1]["log_event"]["state"] == "RUNNING"


@pytest.mark.parametrize("arguments", [["inspect"], ["run", "--config"]])
def test_a_file_that_cannot_be_read_is_one_line(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(SystemExit) as ended:
            main.app([*arguments, str(path)])

        assert ended.value.code == 1
        error = capsys.readouterr().err
        assert error.startswith(f"{path}: ")
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fleeet": "x"}, "fleeet"),
        ({"period_seconds": 0.5}, "period_seconds"),
        ({"purpose": "fun"}, "purpose"),
        ({"collectors_off": ["efa"]}, "there is no collector 'efa'; it can be EFA, compile cache, host,"),
        ({"collectors_off": ["host", "jobs"]}, "'jobs' cannot be switched off: a job would have no name"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_line(
    tmp_path: Path, changes: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_config(tmp_path, **changes)

    with pytest.raises(SystemExit) as ended:
        main.app(["run", "--config", str(path)])

    error = capsys.readouterr().err
    assert ended.value.code == 1
    assert error.startswith(f"{path}: ")
    assert message in error
    assert error.count("\n") == 1
