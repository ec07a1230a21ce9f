"""Prometheus's own answers: ``promtool test rules`` over series and expressions, many in one process.

It compares with what is expected and says what it got, so whoever wants its answers expects what never comes. The
notation of series is promtool's: ``_`` for a gap, ``stale`` for a series that has ended.
"""

import json
import math
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from local.alarm_evaluation.promql import Evaluation, Labels, PromqlError, SeriesStore, Vector, labels_of, parse
from tests.support.needs import require

STALE: Final = "stale"
Sample = float | str | None
_NEVER: Final = [{"labels": "nothing_is_called_so", "value": 1}]
_ANSWER: Final = re.compile(r'^    expr: "(?:[^"\\]|\\.)*", time: [^,]+,(?: err: (?P<error>.*))?\n', re.MULTILINE)
_SAMPLE: Final = re.compile(r"\{((?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*)\} ([^\s,]+)")
_LABEL: Final = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True)
class Case:
    """Questions over one set of series, whose samples are ``interval`` seconds apart from time 0 on."""

    series: Mapping[Labels, Sequence[Sample]]
    questions: Sequence[tuple[str, int]]
    """Expressions, and the second at which each is asked."""
    interval: int = 60


def promtool(tests: Mapping[str, Any], folder: Path) -> tuple[bool, str]:
    """Whether the tests hold, and what ``promtool test rules`` prints. Without promtool the test is skipped."""
    require("promtool")
    file = folder / "tests.yml"
    # YAML takes JSON.
    file.write_text(json.dumps(tests), encoding="utf-8")
    command = [str(shutil.which("promtool")), "test", "rules", str(file)]
    done = subprocess.run(command, capture_output=True, timeout=600, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).decode()


def answers(cases: Sequence[Case], folder: Path, rules: Mapping[str, Any] | None = None) -> list[list[Vector | str]]:
    """Prometheus's answer to every question of every case; text is an error's. ``rules`` is a file of rules."""
    (folder / "rules.yml").write_text(json.dumps(rules or {}), encoding="utf-8")
    rule_files = ["rules.yml"] if rules else []
    groups = [
        {
            "interval": f"{case.interval}s",
            "input_series": input_series(case.series),
            "promql_expr_test": [
                {"expr": text, "eval_time": f"{at}s", "exp_samples": _NEVER} for text, at in case.questions
            ],
        }
        for case in cases
    ]
    _, printed = promtool({"rule_files": rule_files, "evaluation_interval": "1m", "tests": groups}, folder)
    found = list(_answered(printed))
    assert len(found) == sum(len(case.questions) for case in cases), printed[-2000:]
    rest = iter(found)
    return [[next(rest) for _ in case.questions] for case in cases]


def input_series(series: Mapping[Labels, Sequence[Sample]]) -> list[dict[str, str]]:
    """Series in promtool's notation."""
    return [{"series": _named(labels), "values": " ".join(_runs(values))} for labels, values in series.items()]


def ours(case: Case, *, left_open: bool = False) -> list[Vector | str]:
    """What this project answers, as Prometheus 2.x unless ranges are to be open on the left."""
    store = SeriesStore()
    for labels, samples in case.series.items():
        for index, sample in enumerate(samples):
            if sample is not None:
                value = None if isinstance(sample, str) else sample
                store.put(dict(labels)["__name__"], labels, index * case.interval, value)
    evaluation = Evaluation(store, left_open=left_open)
    return [_asked(evaluation, text, at) for text, at in case.questions]


def agree(left: Vector | str, right: Vector | str) -> bool:
    """Whether two answers are the same: labels, and values to the last few bits. An error is like any other."""
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str)
    return left.keys() == right.keys() and all(_same(value, right[labels]) for labels, value in left.items())


def _same(left: float, right: float) -> bool:
    return (math.isnan(left) and math.isnan(right)) or math.isclose(left, right, rel_tol=1e-12, abs_tol=1e-12)


def _asked(evaluation: Evaluation, text: str, at: int) -> Vector | str:
    try:
        return evaluation.vector(parse(text), at)
    except PromqlError as error:
        return str(error)


def _answered(printed: str) -> Iterator[Vector | str]:
    for found in _ANSWER.finditer(printed):
        if found["error"] is not None:
            yield found["error"]
            continue
        got = printed[found.end() :].split("\n", 2)[1].strip().removeprefix("got: ")
        yield {
            labels_of({name: json.loads(value) for name, value in _LABEL.findall(labels)}): float(value)
            for labels, value in _SAMPLE.findall(got)
        }


def _named(labels: Labels) -> str:
    names = dict(labels)
    inner = ",".join(f"{name}={json.dumps(value)}" for name, value in names.items() if name != "__name__")
    return f"{names['__name__']}{{{inner}}}"


def _runs(samples: Sequence[Sample]) -> Iterator[str]:
    for is_gap, run in groupby(samples, lambda sample: sample is None):
        found = list(run)
        yield from [f"_x{len(found)}"] if is_gap else map(_shown, found)


def _shown(sample: Sample) -> str:
    if sample is None or isinstance(sample, str):
        return str(sample)
    return {math.inf: "Inf", -math.inf: "-Inf"}.get(sample, "NaN" if math.isnan(sample) else repr(sample))
