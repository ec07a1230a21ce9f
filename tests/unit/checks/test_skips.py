"""Whoever lacks a tool is told what was not tried; where CI runs that is a failure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from checks.pythons import ROOT

SKIPPED = """
import pytest
@pytest.mark.skipif(True, reason="promtool: apt-get install prometheus")
@pytest.mark.parametrize("number", range(3))
def test_metrics(number: int) -> None: ...
def test_runs() -> None: ...
"""


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
@pytest.mark.parametrize("workers", ["0", "1"])
def test_skips_are_listed_by_what_they_need_and_fail_in_ci(tmp_path: Path, workers: str, ci: str, status: int) -> None:
    (tmp_path / "test_it.py").write_text(SKIPPED)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "-n", workers]
    environment = os.environ | {"CI": ci, "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )

    assert "not tried" in done.stdout
    assert "promtool: apt-get install prometheus  # tests: 3" in done.stdout.splitlines()
    assert (done.returncode, done.stdout.splitlines()[-1].split(" in ")[0]) == (status, "1 passed, 3 skipped")
