"""What a comparison must show before the candidate is given a request of anybody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fleet.shadow.comparison import Comparison

# Exactly as many as are allowed are no breach: 0.57 percent of 10,000 is a hair below 57.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class ShadowGate:
    """None: this is not judged.

    ``minutes`` is how long reports are waited for, and ``min_requests`` how many each must have compared.
    """

    min_requests: int = 100
    equal_percent: float | None = 99.0
    """Of the answers that it gave, those that must be as recorded."""
    failed_percent: float | None = 1.0
    """Of what it was asked, what it may fail to answer."""
    latency_ratio: float | None = 1.5
    """Its median and p99 over the recorded ones of the same requests."""
    latency_slack_seconds: float = 0.05
    """Added to what the ratio allows."""
    minutes: float = 30.0


Finding = tuple[bool, str]
"""Whether it is a breach, or only not known yet; and in words."""


def judge(gate: ShadowGate, reports: Sequence[Comparison | None]) -> list[Finding]:
    """Hold the reports against ``gate``: one for each task of the candidate, None where it has written none yet."""
    written = [each for each in reports if each is not None]
    found = [finding for each in written for finding in _findings(gate, each)]
    if not written or len(written) < len(reports):
        found.append((False, f"{len(written)} of {max(1, len(reports))} tasks of the candidate have reported"))
    return found


def said(report: Comparison) -> str:
    """A comparison in a line."""
    counts = f"{report.equal} of {report.compared} answers as {report.recorded_version or 'recorded'}'s"
    counts += f", {report.different} different, {report.failed} failed"
    if report.latency is None:
        return counts
    times = report.latency
    p50 = f"p50 {times.candidate_p50:.3f} s (recorded {times.recorded_p50:.3f})"
    return f"{counts}; {p50}, p99 {times.candidate_p99:.3f} s ({times.recorded_p99:.3f})"


def _findings(gate: ShadowGate, report: Comparison) -> Iterator[Finding]:
    if report.compared < gate.min_requests:
        yield False, _too_few(gate, report)
    yield from _failed(gate, report)
    yield from _different(gate, report)
    yield from _slower(gate, report)


def _too_few(gate: ShadowGate, report: Comparison) -> str:
    text = f"{report.compared} of {gate.min_requests} recorded requests were compared"
    left = report.left
    if left.chance:
        text += f"; of {left.chance} others the answer is chance: no temperature 0, or a stream"
    return text


def _failed(gate: ShadowGate, report: Comparison) -> Iterator[Finding]:
    # As if every request that is still to come to the minimum were answered well, here and below.
    asked = report.compared + report.failed
    of = max(asked, gate.min_requests)
    if gate.failed_percent is not None and report.failed > of * gate.failed_percent / 100 + _ROUNDING:
        count = f"{report.failed} of {asked}"
        yield True, f"{count} recorded requests failed on the candidate, over {gate.failed_percent:g} %"


def _different(gate: ShadowGate, report: Comparison) -> Iterator[Finding]:
    of = max(report.compared, gate.min_requests)
    if gate.equal_percent is None or report.different <= of * (100 - gate.equal_percent) / 100 + _ROUNDING:
        return
    text = f"{report.different} of {report.compared} answers are not as recorded"
    text += f", where {gate.equal_percent:g} % must be"
    for worst in report.worst[:1]:
        text += f"; the worst: {worst.request_id} ({worst.path}, alike {worst.degree:.3f})"
    yield True, text


def _slower(gate: ShadowGate, report: Comparison) -> Iterator[Finding]:
    times = report.latency
    if gate.latency_ratio is None or report.compared < gate.min_requests:
        return
    if times is None:
        yield False, "nobody has measured how long the answers took"
        return
    for name, ours, recorded in (
        ("median", times.candidate_p50, times.recorded_p50),
        ("p99", times.candidate_p99, times.recorded_p99),
    ):
        if ours > recorded * gate.latency_ratio + gate.latency_slack_seconds:
            text = f"the candidate's {name} of the recorded requests is {ours:.3f} s"
            yield True, f"{text}, where it was {recorded:.3f} s: over {gate.latency_ratio:g} times as much"
