"""Which bucket takes which length: exactly at, below and above each boundary."""

import pytest

from fleet.serving.buckets import DEFAULT_LENGTHS, BucketError, Buckets, Padded, TooLongError, pad

BUCKETS = Buckets(DEFAULT_LENGTHS, (1, 4))


@pytest.mark.parametrize(
    ("length", "bucket"),
    [(1, 128), (127, 128), (128, 128), (129, 256), (256, 256), (257, 512), (2047, 2048), (2048, 2048)],
)
def test_a_length_goes_to_the_smallest_bucket_that_holds_it(length: int, bucket: int) -> None:
    assert BUCKETS.length_for(length) == bucket


def test_what_is_longer_than_the_longest_is_refused_with_the_limit() -> None:
    with pytest.raises(TooLongError, match="2049 tokens; this endpoint takes at most 2048"):
        BUCKETS.length_for(2049)


@pytest.mark.parametrize(("count", "batch"), [(1, 1), (2, 4), (4, 4), (9, 4)])
def test_a_batch_is_the_smallest_that_holds_those_who_wait_or_the_largest(count: int, batch: int) -> None:
    assert BUCKETS.batch_for(count) == batch


def test_every_shape_is_a_length_with_a_batch_size() -> None:
    assert Buckets((128, 256), (1, 2)).shapes == {(128, 1), (128, 2), (256, 1), (256, 2)}


@pytest.mark.parametrize("lengths", [(), (0, 128), (256, 128), (128, 128)])
def test_lengths_that_are_no_buckets_are_refused(lengths: tuple[int, ...]) -> None:
    with pytest.raises(BucketError, match="sequence_lengths"):
        Buckets(lengths)


def test_padding_stands_behind_and_is_masked() -> None:
    assert pad([7, 8], 4) == Padded((7, 8, 0, 0), (1, 1, 0, 0))
    assert pad([7, 8], 2) == Padded((7, 8), (1, 1))
    with pytest.raises(TooLongError):
        pad([1, 2, 3], 2)
