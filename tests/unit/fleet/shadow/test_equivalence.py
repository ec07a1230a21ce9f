"""When two answers are the same, and how much alike they are where they are not."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.shadow.comparison import alike, common_words, cosine
from fleet.shadow.requests import Answer

TEXTS = st.lists(st.text(), min_size=1, max_size=4).map(tuple)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
VECTORS = st.lists(NUMBERS, min_size=1, max_size=8).map(tuple)


@given(TEXTS, TEXTS)
def test_texts_are_equal_letter_by_letter(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert alike(Answer(texts=one), Answer(texts=one), 1.0).is_equal
    found = alike(Answer(texts=one), Answer(texts=other), 1.0)
    assert found.is_equal == (one == other)
    assert 0 <= found.degree <= 1


@given(VECTORS, VECTORS)
def test_a_cosine_is_one_and_the_same_from_both_sides(one: tuple[float, ...], other: tuple[float, ...]) -> None:
    assert -1 <= cosine(one, other) <= 1
    assert cosine(one, other) == pytest.approx(cosine(other, one))
    assert cosine(one, one) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ((1.0, 0.0), (0.0, 1.0), 0.0),
        ((1.0, 0.0), (-2.0, 0.0), -1.0),
        ((1e300, 1e300), (1e300, 1e300), 1.0),
        ((1.0,), (1.0, 0.0), 0.0),
        ((math.nan,), (1.0,), 0.0),
        ((math.inf,), (math.inf,), 0.0),
        ((0.0,), (1.0,), 0.0),
        ((0.0,), (0.0,), 1.0),
    ],
)
def test_vectors_that_are_odd(one: tuple[float, ...], other: tuple[float, ...], found: float) -> None:
    assert cosine(one, other) == pytest.approx(found)


def test_embeddings_are_equal_from_the_limit_on() -> None:
    recorded, close = Answer(vectors=((1.0, 0.0),)), Answer(vectors=((1.0, 0.05),))

    found = alike(recorded, close, 0.99)
    assert found.is_equal
    assert found.degree == pytest.approx(0.99875, abs=1e-5)
    assert not alike(recorded, close, 0.999).is_equal


def test_the_worst_pair_says_how_much_alike() -> None:
    found = alike(Answer(texts=("a b c d", "a b")), Answer(texts=("a b x d", "a b")), 0.999)

    assert (found.is_equal, found.degree) == (False, 0.5)


def test_another_number_of_answers_is_another_answer() -> None:
    assert alike(Answer(texts=("a",)), Answer(texts=("a", "a")), 0.9).degree == 0
    assert alike(Answer(texts=("a",)), Answer(vectors=((1.0,),)), 0.9).degree == 0


def test_spaces_alone_make_a_difference_of_no_word() -> None:
    assert common_words("a b", "a  b") == 1
    assert not alike(Answer(texts=("a b",)), Answer(texts=("a  b",)), 0.9).is_equal
