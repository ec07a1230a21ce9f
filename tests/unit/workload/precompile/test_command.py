"""The program of the container: its arguments, its process, and what it says when it fails."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fleet.compile_cache.request import COMPILER
from workload.errors import CacheError
from workload.precompile import compiler
from workload.precompile.__main__ import main

ROOT = Path(__file__).parents[4]
ARTIFACT = ("m", "r1", "2.30", "128,256")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ARTIFACT,
        (*ARTIFACT, "--"),
        (*ARTIFACT, "train.py"),
        ("m", "r1", "2.30", "128,x", "--", "train.py"),
        ("", "r1", "2.30", "128", "--", "train.py"),
    ],
)
def test_wrong_arguments_are_two_lines_and_start_nothing(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments, {}) == 2
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.parametrize("missing", ["SHARED", "TABLE", "BUCKET"])
def test_a_container_that_is_told_too_little_says_what_is_missing(
    missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {f"NEURON_FLEET_CACHE_{name}": str(tmp_path) for name in ("SHARED", "TABLE", "BUCKET") if name != missing}
    assert main([*ARTIFACT, "--", "train.py"], told | {"AWS_REGION": "us-east-2"}) == 1
    assert capsys.readouterr().err.startswith(f"NEURON_FLEET_CACHE_{missing} is not set")


def program(folder: Path, content: str) -> dict[str, str]:
    path = folder / COMPILER
    path.write_text(f"#!/bin/sh\n{content}\n", encoding="utf-8")
    path.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_the_compiler_is_given_the_command_and_its_exit_code_comes_back(tmp_path: Path) -> None:
    told = program(tmp_path, f'echo "$NEURON_COMPILE_CACHE_URL $@" > {tmp_path}/asked; exit 3')
    environment = {**told, "NEURON_COMPILE_CACHE_URL": "/cache"}
    assert compiler.run(["torchrun", "a b"], environment) == 3
    assert (tmp_path / "asked").read_text() == "/cache torchrun a b\n"


def test_an_image_without_the_compiler_says_so(tmp_path: Path) -> None:
    with pytest.raises(CacheError, match=r"neuron_parallel_compile cannot be started: No such file.*in the image"):
        compiler.run(["torchrun"], {"PATH": str(tmp_path)})


def test_a_job_that_is_stopped_stops_what_its_compiler_has_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    told = program(tmp_path, f"sleep 60 & echo $! > {started}; wait")
    script = "from workload.precompile import compiler; import os; compiler.run(['x'], dict(os.environ))"
    job = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, **told, "PYTHONPATH": str(ROOT)})
    end = time.monotonic() + 60
    while not started.exists() or not started.read_text().strip():
        assert time.monotonic() < end
        time.sleep(0.02)

    job.send_signal(signal.SIGTERM)

    job.wait(60)
    grandchild = int(started.read_text())
    while Path(f"/proc/{grandchild}").exists() and "(sleep) Z" not in Path(f"/proc/{grandchild}/stat").read_text():
        assert time.monotonic() < end
        time.sleep(0.02)
