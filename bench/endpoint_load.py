"""``python -m bench.endpoint_load``: `fleet bench endpoint` beside wrk, on one run of the example server's stand-in.

Both take turns with as many connections, for as long, with the same requests. The bar: requests a second and the median
latency agree within 5 %. The 99th percentile is printed too: wrk takes no warm-up off, and of a few hundred requests it
is the slowest handful.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from cli.bench.load import Load
from cli.bench.load import run as make_load
from fleet.serving.measurement import measure
from tests.support.served_standin import served

WRK: Final = "wrk"
CONNECTIONS: Final = 16
SECONDS: Final = 8
TURNS: Final = 5
BAR: Final = 0.05
# Of a batch of four: some 40 requests a second, so that the endpoint is the slow one and not whoever asks, also on a
# machine that is busy with other things.
BATCH_SECONDS: Final = 0.1
_UNITS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class Figures(NamedTuple):
    """Requests a second, and latencies in seconds."""

    rate: float
    p50: float
    p99: float


def run(turns: int = TURNS, seconds: int = SECONDS) -> tuple[float, float]:
    """Print both and their ratios; how far apart rates and medians are, as shares."""
    if shutil.which(WRK) is None:
        print("fleet bench endpoint beside wrk: not run, wrk is not installed (Debian: apt-get install wrk)")
        return 0.0, 0.0
    with tempfile.TemporaryDirectory() as name, served(Path(name), "--seconds", str(BATCH_SECONDS)) as address:
        load = Load(address, "completions", (100,), 16, CONNECTIONS, None, 1, seconds, 30, "")
        _by_us(load)
        pairs = [_turn(load, Path(name), is_ours_first=bool(turn % 2)) for turn in range(turns)]
    ours, theirs = (Figures(*map(statistics.median, zip(*each, strict=True))) for each in zip(*pairs, strict=True))
    # Of each turn, so that a machine that slows down meanwhile moves both.
    rate, p50, p99 = (
        statistics.median(own[at] / other[at] for own, other in pairs) for at in range(len(Figures._fields))
    )
    for title, each in (("fleet bench", ours), ("wrk", theirs)):
        print(f"{title}: {each.rate:.1f} requests/s, p50 {each.p50 * 1000:.1f} ms, p99 {each.p99 * 1000:.1f} ms")
    print(f"ratios: requests/s {rate:.3f}, p50 {p50:.3f}, p99 {p99:.3f} (bar: the first two within {BAR:.0%} of 1)")
    return abs(rate - 1), abs(p50 - 1)


def _turn(load: Load, folder: Path, *, is_ours_first: bool) -> tuple[Figures, Figures]:
    if is_ours_first:
        ours = _by_us(load)
        return ours, _by_wrk(load, folder)
    theirs = _by_wrk(load, folder)
    return _by_us(load), theirs


def _by_us(load: Load) -> Figures:
    made = make_load(load)
    found = measure(made.samples, made.begin, made.end)
    return Figures(found.requests_per_second, found.latency_seconds["p50"], found.latency_seconds["p99"])


def _by_wrk(load: Load, folder: Path) -> Figures:
    body = json.dumps({"prompt": [1] * load.lengths[0], "max_tokens": load.most_tokens})
    script = folder / "request.lua"
    script.write_text(f"wrk.method='POST'\nwrk.headers['Content-Type']='application/json'\nwrk.body=[==[{body}]==]\n")
    seconds = str(int(load.duration))
    command = [WRK, "-t1", f"-c{load.concurrency}", f"-d{seconds}s", "--latency", "-s", str(script)]
    done = subprocess.run([*command, f"{load.url}/v1/completions"], check=True, capture_output=True, text=True)
    return read_wrk(done.stdout)


def read_wrk(text: str) -> Figures:
    """The figures in what wrk prints.

    Raises:
        ValueError: there are none, or it says that requests failed.
    """
    if "Non-2xx" in text or "Socket errors" in text:
        raise ValueError(f"wrk's requests failed: {text}")
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    shares = {
        found[1]: float(found[2]) * _UNITS[found[3]] for found in re.finditer(r"(\d+)%\s+([\d.]+)(us|ms|s)", text)
    }
    if rate is None or not {"50", "99"} <= shares.keys():
        raise ValueError(f"wrk says something else than expected: {text}")
    return Figures(float(rate[1]), shares["50"], shares["99"])


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m bench.endpoint_load", description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    asked = parser.parse_args()
    run(asked.turns, asked.seconds)


if __name__ == "__main__":
    main()
