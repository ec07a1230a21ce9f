"""Milliseconds until `fleet --help` and `fleet --version` have answered, beside a Python that does nothing."""

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
RUNS: Final = 9
NOTHING: Final = ("-c", "pass")
ASKED: Final = {
    "fleet --version": ("-m", "cli", "--version"),
    "fleet --help": ("-m", "cli", "--help"),
    "fleet validate --help": ("-m", "cli", "validate", "--help"),
    "fleet-agent --help": ("-m", "agents.main", "--help"),
}


def run() -> None:
    """Print the median of each and its ratio; they take turns, so that a noisy machine hurts all alike."""
    taken: dict[tuple[str, ...], list[float]] = {arguments: [] for arguments in (NOTHING, *ASKED.values())}
    for arguments in taken:
        # Once before it counts: what is compiled and cached then is there for everybody after.
        _milliseconds(arguments)
    for _ in range(RUNS):
        for arguments, times in taken.items():
            times.append(_milliseconds(arguments))
    nothing = statistics.median(taken[NOTHING])
    for name, arguments in ASKED.items():
        ours = statistics.median(taken[arguments])
        print(f"{name}: {ours:.0f} ms, python -c pass: {nothing:.0f} ms, ratio {ours / nothing:.1f}")


def _milliseconds(arguments: tuple[str, ...]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    run()
