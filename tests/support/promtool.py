"""Prometheus's own check of what a target exposes."""

import shutil
import subprocess
from pathlib import Path

from tests.support.needs import require


def check_metrics(text: bytes) -> str:
    """What ``promtool check metrics`` finds wrong; empty when nothing is. Without promtool the test is skipped."""
    require("promtool")
    tool = str(shutil.which("promtool"))
    done = subprocess.run([tool, "check", "metrics"], input=text, capture_output=True, timeout=120, check=False)
    return (done.stdout + done.stderr).decode() + ("" if done.returncode == 0 else f"exit {done.returncode}")


def check_rules(file: Path) -> str:
    """What ``promtool check rules`` says of a rule file; it names what it refuses."""
    require("promtool")
    command = [str(shutil.which("promtool")), "check", "rules", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr
