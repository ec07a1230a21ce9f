"""From answers to a report, from a report to what a rollout is told; and samples to bytes and back."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.shadow import places
from fleet.shadow.comparison import Comparison, Latency, Replayed, compare, encode
from fleet.shadow.gate import ShadowGate, judge, said
from fleet.shadow.requests import COMPLETIONS, Answer
from fleet.shadow.sample import Batch, Left, Sample, SampleError, decode, newest, offsets
from fleet.shadow.sample import encode as encode_batch

WHOSE = Comparison("chat:8", "t1", "chat:7")
PROMPT = "a prompt that is somebody's own"
GATE = ShadowGate(min_requests=10)
GOOD = Comparison("chat:8", "t1", "chat:7", equal=100, latency=Latency(0.2, 0.4, 0.2, 0.4))


def sample(name: str = "r1", at: float = 1000.0, seconds: float = 0.2, text: str = "a b") -> Sample:
    return Sample(name, at, COMPLETIONS, f'{{"prompt":"{PROMPT}"}}', Answer(texts=(text,)), seconds)


def test_a_report_counts_measures_and_names_the_worst_without_a_prompt() -> None:
    asked = [
        Replayed(sample("r1", seconds=0.1), Answer(texts=("a b",)), 0.2),
        Replayed(sample("r2", seconds=0.3), Answer(texts=("a x",)), 0.4),
        Replayed(sample("r3", seconds=0.5), Answer(texts=("x",)), 0.6),
        Replayed(sample("r4", seconds=9.0), None, 0.0),
    ]
    found = compare(replace(WHOSE, left=Left(chance=7)), asked, 0.999)

    assert (found.equal, found.different, found.failed, found.compared, found.left.chance) == (1, 2, 1, 3, 7)
    assert [(each.request_id, each.degree) for each in found.worst] == [("r3", 0.0), ("r2", 0.5)]
    # Of the same requests: what failed has a time on one side only.
    assert found.latency == Latency(0.3, 0.5, 0.4, 0.6)
    assert PROMPT.encode() not in encode(found)
    assert said(found) == (
        "1 of 3 answers as chat:7's, 2 different, 1 failed; p50 0.400 s (recorded 0.300), p99 0.600 s (0.500)"
    )


def test_what_was_never_answered_has_no_latency() -> None:
    assert compare(WHOSE, [Replayed(sample(), None, 0.0)], 0.9).latency is None
    assert compare(WHOSE, [], 0.9) == WHOSE


def test_a_long_list_is_cut_to_the_worst() -> None:
    asked = [Replayed(sample(f"r{n}", text="a " * 9 + "b"), Answer(texts=("a " * n,)), 0.1) for n in range(9)]

    assert [each.request_id for each in compare(WHOSE, asked, 0.9).worst] == ["r0", "r1", "r2", "r3", "r4"]


@pytest.mark.parametrize(
    ("changes", "is_breach", "words"),
    [
        ({"equal": 98, "different": 2}, True, "2 of 100 answers are not as recorded, where 99 % must be"),
        ({"failed": 2}, True, "2 of 102 recorded requests failed on the candidate, over 1 %"),
        ({"latency": Latency(0.2, 0.4, 0.36, 0.4)}, True, "median of the recorded requests is 0.360 s"),
        ({"latency": Latency(0.2, 0.4, 0.2, 0.66)}, True, "p99 of the recorded requests is 0.660 s"),
        ({"latency": None}, False, "nobody has measured"),
        ({"equal": 9}, False, "9 of 10 recorded requests were compared"),
        (
            {"equal": 0, "left": Left(chance=80)},
            False,
            "of 80 others the answer is chance: no temperature 0, or a stream",
        ),
        # One of what may still be ten is over, whatever comes.
        ({"equal": 2, "different": 1}, True, "1 of 3 answers"),
    ],
)
def test_what_a_gate_does_not_let_through(changes: dict[str, Any], is_breach: bool, words: str) -> None:
    found = judge(GATE, [replace(GOOD, **changes)])

    assert any(one is is_breach and words in text for one, text in found), found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"equal": 99, "different": 1},
        {"failed": 1},
        # Twice what it was, and 40 milliseconds: the slack is 50.
        {"latency": Latency(0.04, 0.05, 0.08, 0.1)},
    ],
)
def test_what_a_gate_lets_through(changes: dict[str, Any]) -> None:
    assert judge(GATE, [replace(GOOD, **changes)]) == []


def test_exactly_as_many_failures_as_are_allowed_are_no_breach() -> None:
    gate = replace(GATE, failed_percent=0.57)

    assert judge(gate, [replace(GOOD, equal=9943, failed=57)]) == []
    assert [breach for breach, _ in judge(gate, [replace(GOOD, equal=9942, failed=58)])] == [True]


def test_a_share_that_may_differ_may() -> None:
    gate = replace(GATE, equal_percent=90.0)

    assert judge(gate, [replace(GOOD, equal=90, different=10)]) == []
    assert [breach for breach, _ in judge(gate, [replace(GOOD, equal=89, different=11)])] == [True]


def test_a_limit_of_none_is_not_judged() -> None:
    bad = replace(GOOD, equal=50, different=50, failed=50, latency=None)

    assert judge(ShadowGate(equal_percent=None, failed_percent=None, latency_ratio=None), [bad]) == []


def test_every_task_has_to_report_and_each_is_judged() -> None:
    assert judge(GATE, []) == [(False, "0 of 1 tasks of the candidate have reported")]
    assert judge(GATE, [GOOD, None]) == [(False, "1 of 2 tasks of the candidate have reported")]
    assert [breach for breach, _ in judge(GATE, [GOOD, replace(GOOD, failed=50)])] == [True]


@given(
    st.builds(
        Batch,
        version=st.text(),
        task=st.text(),
        samples=st.lists(
            st.builds(
                Sample,
                request_id=st.text(),
                at=st.floats(0, 1e10),
                path=st.just(COMPLETIONS),
                body=st.text(),
                answer=st.builds(Answer, texts=st.lists(st.text()).map(tuple), vectors=st.just(((1.5, -2.0),))),
                seconds=st.floats(0, 1e4),
            ),
            max_size=3,
        ).map(tuple),
        left=st.builds(Left, chance=st.integers(0, 9), failed=st.integers(0, 9), dropped=st.integers(0, 9)),
    )
)
def test_a_batch_comes_back_as_it_was_written(batch: Batch) -> None:
    assert decode(encode_batch(batch)) == batch


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"3", b'{"schema": 2}', b'{"schema": 1, "samples": [{}]}'])
def test_what_is_no_batch_is_refused(content: bytes) -> None:
    with pytest.raises(SampleError):
        decode(content)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 100)), max_size=30))
def test_samples_are_asked_in_their_order_and_nobody_waits_long(drawn: list[tuple[float, float]]) -> None:
    chosen = newest([sample(f"r{n}", at, seconds) for n, (at, seconds) in enumerate(drawn)], 20)
    found = offsets(chosen)

    assert len(found) == len(chosen) <= 20
    assert found == sorted(found)
    assert all(later - earlier <= 5 + 1e-9 for earlier, later in pairwise(found))


def test_what_came_together_comes_together_again_and_silence_is_cut() -> None:
    chosen = [sample("a", 100.0), sample("b", 100.1), sample("c", 400.0, seconds=3.0)]

    assert offsets(chosen) == pytest.approx([0.0, 0.1, 3.1])


def test_the_newest_are_chosen_and_each_once() -> None:
    assert [each.request_id for each in newest([sample("a", 3), sample("b", 2), sample("c", 1)], 2)] == [
        "b",
        "a",
    ]
    assert len(newest([sample("a", 1), sample("a", 1)], 9)) == 1


def test_names_begin_with_the_fleet_and_sort_by_time() -> None:
    one = places.sample("chat", 1_790_000_000.0, "chat:7", "t1")

    assert one == "samples/chat/20260921T141320Z/chat:7/t1.json"
    assert places.samples_before("chat", 1_790_000_000.0) < one < places.sample("chat", 1_790_000_001.0, "chat:7", "t0")
    assert places.report("chat", "chat:8", "t2") == "reports/chat/chat:8/t2.json"
    # A fleet whose name begins like another's is not in its prefix.
    assert not places.sample("chat-2", 0, "v", "t").startswith(places.samples("chat"))
