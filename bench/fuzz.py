"""``python -m bench.fuzz --lines 1000000``: damaged lines through the whole pipeline, and what became of them.

Every line goes through parsing, merging and the minute; every few lines a minute is closed and its datums and log
event are checked as CloudWatch would: valid JSON, finite, within its limits. A crash names its line by seed and
number, so that it can be had again. Memory is the process's own, after the first tenth and at the end.
"""

import argparse
import json
import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import psutil

from agents.inspect import default_config
from agents.minute.aggregate import metric_data
from agents.minute.batch import NodeMinute, SelfFigures
from agents.minute.event_size import MOST_BYTES
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from tests.support import mutations, samples

START: Final = 1_795_230_000
LARGEST: Final = 2.0**360
# A full minute has twelve reports; a short one closes more often, and sees more different minutes.
REPORTS_A_MINUTE: Final = 4
CRASHES_SHOWN: Final = 5


class UnpublishableError(AssertionError):
    """A minute that CloudWatch would refuse, or that holds a number that is none."""


@dataclass
class Outcome:
    """What the lines came to. ``growth`` is in bytes of resident memory over the last nine tenths."""

    lines: int = 0
    unreadable: int = 0
    minutes: int = 0
    datums: int = 0
    crashes: tuple[str, ...] = ()
    largest_event: int = 0
    growth: int = 0
    seconds: float = 0.0


def run(lines: int, seed: int = 1) -> Outcome:
    """Feed ``lines`` damaged lines to one pipeline."""
    outcome = Outcome()
    started, settled = time.perf_counter(), 0
    pipeline = Pipeline(default_config("trn1.32xlarge", 5), "i-1", START)
    minute = START
    for number, line in enumerate(_lines(lines, seed)):
        if number == lines // 10:
            settled = psutil.Process().memory_info().rss
        try:
            outcome.lines += 1
            outcome.unreadable += not pipeline.line(line, minute + 5 * (number % REPORTS_A_MINUTE))
            if number % REPORTS_A_MINUTE == REPORTS_A_MINUTE - 1:
                entry = pipeline.close(minute, minute + 20, number, Surroundings(), SelfFigures())
                check(entry, outcome)
                minute += 60
        except Exception as error:
            outcome.crashes += (f"seed {seed}, line {number}: {type(error).__name__}: {str(error)[:200]}",)
            pipeline = Pipeline(default_config("trn1.32xlarge", 5), "i-1", minute)
    outcome.growth = psutil.Process().memory_info().rss - settled
    outcome.seconds = time.perf_counter() - started
    return outcome


def _lines(count: int, seed: int) -> Iterator[bytes]:
    # One line in a thousand is damaged from a full node's, which takes as long as a hundred others.
    small = mutations.mutated(seed, mutations.shapes())
    full = mutations.mutated(seed + 1, (mutations.rendered(samples.full_node()),))
    for number in range(count):
        yield next(full if number % 1000 == 999 else small)


def check(entry: NodeMinute, outcome: Outcome) -> None:
    """Raise when the minute could not be published.

    Raises:
        UnpublishableError: a datum or the event is not what CloudWatch takes.
        ValueError: one of them is not JSON.
    """
    data, event = metric_data(entry), log_event(entry)
    json.dumps(data, allow_nan=False)
    size = len(json.dumps(event, separators=(",", ":"), allow_nan=False))
    if size > MOST_BYTES:
        raise UnpublishableError(f"an event of {size} bytes")
    for datum in data:
        if not all(-LARGEST <= number <= LARGEST for number in _numbers(datum)) or len(datum.get("Values", ())) > 150:
            raise UnpublishableError(str(datum))
        if any(number < 0 for number in _numbers(datum)):
            raise UnpublishableError(f"a figure below zero: {datum}")
    outcome.minutes += 1
    outcome.datums += len(data)
    outcome.largest_event = max(outcome.largest_event, size)


def _numbers(datum: Mapping[str, Any]) -> Iterable[float]:
    yield from [datum["Value"]] if "Value" in datum else []
    yield from datum.get("Values", ())
    yield from datum.get("StatisticValues", {}).values()


def main() -> None:
    """Run it and print the figures; exit code 1 when anything crashed."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    outcome = run(arguments.lines, arguments.seed)
    crashes = len(outcome.crashes)
    print(f"{outcome.lines} lines in {outcome.seconds:.0f} s: {outcome.unreadable} refused, {crashes} crashes")
    print(f"{outcome.minutes} minutes, {outcome.datums} datums, largest log event {outcome.largest_event} bytes")
    print(f"resident memory grew by {outcome.growth / 1e6:.1f} MB over the last nine tenths")
    for crash in islice(outcome.crashes, CRASHES_SHOWN):
        print(crash)
    raise SystemExit(bool(outcome.crashes))


if __name__ == "__main__":
    main()
