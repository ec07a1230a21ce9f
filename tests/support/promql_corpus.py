"""Every verdict of the rules on a scenario, minute by minute and contributor by contributor, held against Prometheus's.

A replay looks 10 s after a minute's samples, promtool on whole minutes: its samples are 10 s before those. Prometheus
2.x counts a sample at the very start of a range and CloudWatch does not; none lies there, so both have to agree.

Where samples came late Prometheus cannot follow from minute to minute: each minute is a case of its own then, with what
could be seen, and the series that each rule returns are compared in place of the alarms' states.

``python -m tests.support.promql_corpus [SCENARIO or FOLDER]...`` compares the whole corpus and prints the count.
"""

import logging
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from fleet.alarms import ContributorSpec
from local.alarm_evaluation.promql import Evaluation, Labels, Vector, parse
from local.replay.delivery import AT_ONCE, Delivery
from local.replay.evaluator import Change
from local.replay.followed import Followers
from local.replay.run import FOLLOWED, SETS, AlarmSet, replay
from local.replay.scenario import CORPUS, Scenario, load
from local.replay.series import SeriesPoint
from local.replay.store import MINUTE
from local.simulation.lockstep import SETTLE_SECONDS
from tests.support.promql_witness import Case, agree, answers, input_series, promtool

STEP: Final = SETTLE_SECONDS
_STEPS: Final = int(MINUTE // STEP)


@dataclass
class Look:
    """One evaluation: when, how many samples could be seen by then, what rules returned and who was in ALARM."""

    at: int
    seen: int
    returned: Mapping[str, Vector]
    in_alarm: Mapping[str, tuple[Labels, ...]]


@dataclass
class Watched:
    """What one replay's rules saw and said."""

    specs: list[ContributorSpec] = field(default_factory=list)
    samples: list[SeriesPoint] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)

    @property
    def is_late(self) -> bool:
        """Whether a sample could be seen only after an evaluation that should have had it."""
        before = [0, *(look.seen for look in self.looks)]
        spans = zip(self.looks, before, before[1:], strict=False)
        return any(each.at <= look.at - MINUTE for look, first, last in spans for each in self.samples[first:last])


class Verdicts(NamedTuple):
    """How many were compared, how many of them were series in ALARM or returned, and where the two differ."""

    compared: int
    series: int
    differences: str


def watched(scenario: Scenario, make: AlarmSet = SETS[FOLLOWED], delivery: Delivery = AT_ONCE) -> Watched:
    """``scenario`` replayed with the rules of ``make``."""
    found = Watched()

    class Watcher(Followers):
        def advance(self, minute: int) -> list[Change]:
            store = self._series.store
            with patch.object(store, "put", _noted(store.put, found.samples)):
                changes = super().advance(minute)
            now = int(minute + MINUTE + SETTLE_SECONDS)
            found.specs = list(self._specs.values())
            evaluation = Evaluation(store)
            returned = {spec.name: evaluation.vector(parse(spec.expression), now) for spec in found.specs}
            found.looks.append(Look(now, len(found.samples), returned, self._alarms.in_alarm))
            return changes

    with patch("local.replay.cloud.Followers", Watcher):
        replay(scenario, {FOLLOWED: make}, CORPUS, delivery)
    return found


def _noted(put: Callable[..., None], samples: list[SeriesPoint]) -> Callable[..., None]:
    def noted(*sample: Any) -> None:
        samples.append(SeriesPoint(*sample))
        put(*sample)

    return noted


def compared(found: Watched, folder: Path) -> Verdicts:
    """Every verdict of a replay beside Prometheus's."""
    return _minute_by_minute(found, folder) if found.is_late else _states(found, folder)


def _states(found: Watched, folder: Path) -> Verdicts:
    start = found.looks[0].at - MINUTE
    (folder / "rules.yml").write_text(str(_rules(found.specs)), encoding="utf-8")
    tests = [
        {
            "alertname": alarm,
            "eval_time": f"{look.at - start}s",
            "exp_alerts": [{"exp_labels": dict(labels)} for labels in firing],
        }
        for look in found.looks
        for alarm, firing in look.in_alarm.items()
    ]
    series = _placed(found.samples, start, len(found.looks) * _STEPS)
    group = {"interval": f"{STEP:g}s", "input_series": input_series(series), "alert_rule_test": tests}
    holds, printed = promtool(
        {"rule_files": ["rules.yml"], "evaluation_interval": f"{MINUTE}s", "tests": [group]}, folder
    )
    return Verdicts(len(tests), sum(len(test["exp_alerts"]) for test in tests), "" if holds else printed)


def _minute_by_minute(found: Watched, folder: Path) -> Verdicts:
    furthest = 3 * 60 * MINUTE
    cases, mine = [], []
    for look in found.looks:
        start = look.at - furthest
        seen = [each for each in found.samples[: look.seen] if start < each.at]
        # What is dated in the future cannot be seen by this evaluation.
        values = _placed(seen, start, int(furthest // STEP))
        cases.append(Case(values, [(spec.expression, furthest) for spec in found.specs], int(STEP)))
        mine.append([look.returned[spec.name] for spec in found.specs])
    wrong = [
        f"{spec.name} at {look.at}: Prometheus {theirs}, here {ours}"
        for look, judged, said in zip(found.looks, answers(cases, folder), mine, strict=True)
        for spec, theirs, ours in zip(found.specs, judged, said, strict=True)
        if not agree(theirs, ours)
    ]
    series = sum(len(vector) for said in mine for vector in said)
    return Verdicts(sum(map(len, mine)), series, "\n".join(wrong))


def _rules(specs: Sequence[ContributorSpec]) -> dict[str, Any]:
    rules = [
        {
            "alert": spec.name,
            "expr": spec.expression,
            "for": f"{spec.pending_seconds}s",
            "keep_firing_for": f"{spec.recovery_seconds}s",
        }
        for spec in specs
    ]
    return {"groups": [{"name": "all", "rules": rules}]}


def _placed(samples: Sequence[SeriesPoint], start: int, most: int) -> dict[Labels, list[float | str | None]]:
    """By series, one value for each ``STEP`` from ``start`` on."""
    found: dict[Labels, list[float | str | None]] = {}
    for each in samples:
        index = int((each.at - start) // STEP)
        values = found.setdefault(each.labels, [])
        values += [None] * (min(index, most) + 1 - len(values))
        if index <= most and values[index] is None:
            values[index] = each.value
    return found


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _files(given: Sequence[str]) -> list[Path]:
    paths = [Path(each) for each in given] or [CORPUS]
    return [file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]


def main(given: Sequence[str]) -> int:
    """Compare the scenarios of these files and folders; 1 where something differs."""
    logging.getLogger("agents").setLevel(logging.ERROR)
    total = Verdicts(0, 0, "")
    for file in _files(given):
        with tempfile.TemporaryDirectory() as folder:
            verdicts = compared(watched(load(file)), Path(folder))
        total = Verdicts(
            total.compared + verdicts.compared,
            total.series + verdicts.series,
            total.differences + verdicts.differences,
        )
        _say(f"{file.stem}: {verdicts.compared} verdicts, {verdicts.series} series")
    _say(total.differences or "0 differences")
    _say(f"{total.compared} verdicts compared, {total.series} series in ALARM or returned among them")
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
