"""The ledger's roll-up of a day with 10 million node-minutes: right to the cent, in which time and memory.

The minutes are written by a loop that books each of them by itself, in Python's own integers, before a thousandth is
repeated as twins and as parts of a restarted minute: nothing of ``lambdas.cost_report`` or ``fleet.ledger`` is in it.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb

from fleet.ledger.amounts import PER_USD
from lambdas.cost_report import rollup

DAY = date(2026, 11, 20)
MOST_SECONDS, MOST_MB = 60.0, 1000.0
# (share of nodes, price in millionths of a dollar an hour or None, kind, type, date)
PRICES = (
    (21_500_000, "on-demand", "trn1.32xlarge", "2026-08-01"),
    (12_981_230, "spot", "inf2.48xlarge", "2026-10-12"),
    (35_763_333, "capacity-block", "trn2.48xlarge", "2026-11-01"),
    (None, None, "trn2u.48xlarge", None),
)
STATES = ("running", "running", "running", "running", "compiling", "startup", "checkpoint", "idle", "fault", "unseen")


class Written:
    """What the loop has booked: amounts by owner, and node-minutes without a price."""

    def __init__(self) -> None:
        self.by_owner: Counter[str] = Counter()
        self.unpriced = 0
        self.twins = self.parts = self.minutes = 0


def write(folder: Path, nodes: int, *, seed: int = 1) -> Written:
    """The day's minutes as Parquet files of an hour each, and the sums that the roll-up has to find."""
    written, chance = Written(), random.Random(seed)  # noqa: S311 - to be repeatable, not secret
    begin = int(datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC).timestamp())
    database, names = rollup.connect(folder), rollup.columns(rollup.NODE_ROWS)
    for hour in range(24):
        lines = folder / "hour.csv"
        with lines.open("w", encoding="ascii") as file:
            for minute in range(begin + hour * 3600, begin + (hour + 1) * 3600, 60):
                file.writelines(_minute(minute, nodes, chance, written))
        read = f"read_csv('{lines}', header = false, delim = '|', quote = '', escape = '', columns = {names})"
        target = folder / f"hour-{hour:02}.parquet"
        database.execute(f"COPY (SELECT * FROM {read}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)").fetchall()  # noqa: S608
        lines.unlink()
    database.close()
    return written


def _minute(minute: int, nodes: int, chance: random.Random, written: Written) -> Iterator[str]:
    for node in range(nodes):
        price, kind, instance_type, as_of = PRICES[node % 16 % 4 if node % 64 else 3]
        state = STATES[(node * 7 + minute // 600) % 10]
        parts = _parts(node, price, state, written)
        seq = minute // 60
        source = "catalogue" if kind else ""
        line = (
            f"i-{node:017x}|{minute}|boot-{node % 97}|%d|{str(state == 'unseen').lower()}|false|fleet-{node % 20}|"
            f"{instance_type}|{state}|{kind or ''}|{source}|{as_of or ''}|{price or ''}|{parts}\n"
        )
        whole = line % seq
        yield whole
        written.minutes += 1
        written.unpriced += price is None
        luck = chance.random()
        if luck < 0.001:
            written.twins += 1
            yield whole
        elif luck < 0.0015:
            # The agent was restarted within the minute: the rest of it comes under another number.
            written.parts += 1
            yield line % (seq + 1_000_000)


def _parts(node: int, price: int | None, state: str, written: Written) -> str:
    if state == "idle":
        owners = [f"fleet-owner-{node % 20}"]
        return _text([(None, owners[0], 1_000_000, price)], written)
    sharing = 1 if node % 10 else 2 + node % 3
    weights = [index + 1 for index in range(sharing)]
    amounts: list[int | None] = [None] * sharing
    units = [1_000_000 * weight // sum(weights) for weight in weights]
    units[-1] += 1_000_000 - sum(units)
    if price is not None:
        whole = [price * weight // sum(weights) for weight in weights]
        whole[-1] += price - sum(whole)
        amounts = list(whole)
    jobs = [(f"job-{node // 16}-{index}", f"owner-{(node + index) % 37}") for index in range(sharing)]
    return _text([(job, owner, u, a) for (job, owner), u, a in zip(jobs, units, amounts, strict=True)], written)


def _text(parts: list[tuple[str | None, str, int, int | None]], written: Written) -> str:
    for _, owner, _, amount in parts:
        if amount is not None:
            written.by_owner[owner] += amount
    return json.dumps(
        [
            {"job": job, "owner": owner, "units": units, "amount": amount, "core_minutes": 32.0, "tokens": 1000.0}
            for job, owner, units, amount in parts
        ]
    )


def measure(folder: Path) -> None:
    """In a process of its own: roll up what lies in ``folder`` and print what it took, as JSON."""
    began = time.monotonic()
    database = rollup.connect(folder)
    found = rollup.roll_up(database, DAY, sorted(folder.glob("hour-*.parquet")), [], folder / "ledger.parquet")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    answer = {
        "seconds": time.monotonic() - began,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "mb": usage.ru_maxrss / 1024,
        "twins": found.twins,
        "parts": found.parts,
        "unpriced": found.unpriced_units / 1_000_000,
        "lines": found.lines,
    }
    sys.stdout.write(json.dumps(answer) + "\n")


def by_owner(file: Path) -> dict[str, int]:
    """The ledger's amounts by owner."""
    query = "SELECT owner, sum(amount)::BIGINT FROM read_parquet($file) WHERE amount IS NOT NULL GROUP BY owner"
    return {str(owner): int(amount) for owner, amount in duckdb.execute(query, {"file": str(file)}).fetchall()}


def run(nodes: int = 6_950) -> None:
    """10 million node-minutes, and a tenth of them as the measure of how it grows."""
    for count in (nodes // 10, nodes):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            written = write(folder, count)
            took = json.loads(
                subprocess.run(
                    [sys.executable, "-m", "bench.ledger_rollup", str(folder)],
                    check=True, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": "."},
                ).stdout
            )  # fmt: skip
            found = by_owner(folder / "ledger.parquet")
        counts = (took["twins"], took["parts"], took["unpriced"])
        wrong = sorted(owner for owner in written.by_owner | found if written.by_owner[owner] != found.get(owner))
        exact = not wrong and counts == (written.twins, written.parts, written.unpriced)
        print(
            f"ledger roll-up: {written.minutes / 1e6:.2f} M node-minutes, {counts[0]} twins, {counts[1]} parts: "
            f"{took['seconds']:.1f} s (bar {MOST_SECONDS:.0f}), {took['cpu_seconds']:.1f} CPU s, "
            f"{took['mb']:.0f} MB (bar {MOST_MB:.0f}), ${sum(found.values()) / PER_USD:,.2f}: "
            f"{'exact' if exact else f'WRONG: {wrong[:5]}'}"
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        run()
