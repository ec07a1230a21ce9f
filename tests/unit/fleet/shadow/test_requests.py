"""Which requests are kept, which can be compared, and what is read of an answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.shadow.requests import COMPLETIONS, EMBEDDINGS, Answer, answer_in, is_kept, reason_against, trace_id


@given(st.text())
def test_a_request_is_kept_or_not_by_its_id_alone(request_id: str) -> None:
    assert is_kept(request_id, 100)
    assert not is_kept(request_id, 0)
    # Who is kept of few is kept of many.
    assert is_kept(request_id, 50) or not is_kept(request_id, 20)


@pytest.mark.parametrize("percent", [1.0, 5.0, 20.0, 60.0])
def test_so_many_percent_are_kept(percent: float) -> None:
    kept = sum(is_kept(f"request {number}", percent) for number in range(20_000))

    assert kept / 200 == pytest.approx(percent, rel=0.15)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("Root=1-67891233-abcdef012345678912345678", "1-67891233-abcdef012345678912345678"),
        ("Self=1-0-1;Root=1-67891233-abcdef012345678912345678;Sampled=1", "1-67891233-abcdef012345678912345678"),
        ("Root=ann@example.com", ""),
        ("", ""),
    ],
)
def test_only_the_load_balancers_id_is_taken_from_a_request(header: str, found: str) -> None:
    assert trace_id(header) == found


@pytest.mark.parametrize(
    ("path", "fields", "reason"),
    [
        (COMPLETIONS, {"temperature": 0}, ""),
        (COMPLETIONS, {"temperature": 0.0}, ""),
        (COMPLETIONS, {"temperature": 0.01}, "temperature"),
        # OpenAI's default is 1.
        (COMPLETIONS, {}, "temperature"),
        (COMPLETIONS, {"temperature": None}, "temperature"),
        (COMPLETIONS, {"temperature": False}, "temperature"),
        (COMPLETIONS, {"temperature": 0, "stream": True}, "stream"),
        (EMBEDDINGS, {}, ""),
    ],
)
def test_what_the_same_version_may_answer_differently_is_not_compared(
    path: str, fields: dict[str, Any], reason: str
) -> None:
    assert reason_against(path, fields) == reason


def test_answers_are_read_in_the_order_of_their_index() -> None:
    texts = {"choices": [{"index": 1, "text": "b"}, {"index": 0, "text": "a"}]}
    vectors = {"data": [{"index": 0, "embedding": [1, 2.5]}]}
    packed = {"data": [{"index": 0, "embedding": "AACAPwAAIEA="}]}

    assert answer_in(COMPLETIONS, texts) == Answer(texts=("a", "b"))
    assert answer_in(EMBEDDINGS, vectors) == answer_in(EMBEDDINGS, packed) == Answer(vectors=((1.0, 2.5),))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": [{"text": "a"}]},
        {"choices": 3},
        [],
        {"data": ["a"]},
        {"data": [{"index": 0, "embedding": "no base64"}]},
        # Three bytes are no float.
        {"data": [{"index": 0, "embedding": "AAAA"}]},
        None,
        # JSON has integers that no float holds, and Python reads Infinity.
        {"data": [{"index": 0, "embedding": [10**400]}]},
        {"choices": [{"index": float("inf"), "text": "a"}]},
    ],
)
@pytest.mark.parametrize("path", [COMPLETIONS, EMBEDDINGS])
def test_what_is_no_answer_is_none(path: str, body: Any) -> None:
    assert answer_in(path, body) is None
