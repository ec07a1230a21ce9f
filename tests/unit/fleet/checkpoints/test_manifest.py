"""Manifests are read as strictly as they are written, and keys say what they are."""

import json
from dataclasses import replace
from typing import Any

import pytest

from fleet.checkpoints.layout import Attempt, RunNameError, attempt_of
from fleet.checkpoints.manifest import (
    ABANDONED,
    ManifestError,
    Part,
    StoredFile,
    decoded,
    decoded_part,
    encoded,
    whole,
)
from fleet.checkpoints.retention import Retention, kept

FILE = StoredFile("model/shard.bin", "files/x", 5, "a" * 64)
PART = Part(12, "job.1", 0, 2, 100.0, (FILE,))
ATTEMPT = Attempt(12, "job.1")


def test_a_manifest_comes_back_as_it_was_and_equal_parts_make_equal_bytes() -> None:
    other = replace(PART, rank=1, saved_at=200.0, files=())
    manifest = whole(ATTEMPT, [other, PART])
    assert manifest.parts == (PART, other)
    assert (manifest.saved_at, manifest.size) == (200.0, 5)
    assert decoded(encoded(manifest)) == manifest
    assert encoded(whole(ATTEMPT, [PART, other])) == encoded(manifest)
    assert decoded_part(encoded(PART)) == PART
    assert decoded(ABANDONED) is None


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "step 12: no part"),
        ([PART], "step 12: 1 parts are not those of 2 ranks"),
        ([PART, PART], "step 12: 2 parts are not those of 2 ranks"),
        ([PART, replace(PART, rank=1, world_size=3)], "step 12: the part of rank 1 is of another save"),
        ([PART, replace(PART, rank=1, run="job.2")], "step 12: the part of rank 1 is of another save"),
    ],
)
def test_parts_that_are_not_all_of_one_save_make_no_manifest(parts: list[Part], message: str) -> None:
    with pytest.raises(ManifestError, match=message):
        whole(ATTEMPT, parts)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("files", 0, "path"), "../../etc/passwd", "is not a path below the rank's directory"),
        (("files", 0, "path"), "/etc/passwd", "is not a path below the rank's directory"),
        (("files", 0, "path"), "a//b", "is not a path below the rank's directory"),
        (("files", 0, "path"), ".", "is not a path below the rank's directory"),
        (("files", 0, "sha256"), "abc", "'abc' is not a SHA-256"),
        (("files", 0, "size"), -1, "size is -1, not a whole number from 0"),
        (("files", 0, "size"), 1.5, "size is 1.5, not a whole number from 0"),
        (("files",), None, "files is None, not a list"),
        (("files", 0), 7, "a file is not an object"),
        (("rank",), True, "rank is True, not a number"),
        (("run",), 3, "run is 3, not text"),
        (("schema",), 2, "not of schema 1"),
    ],
)
def test_what_was_damaged_is_refused_with_one_line(path: tuple[Any, ...], value: object, message: str) -> None:
    data = json.loads(encoded(PART))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ManifestError, match=message):
        decoded_part(json.dumps(data).encode())


def test_what_is_no_json_is_refused() -> None:
    for content in (b"", b"\xff", encoded(PART)[:-1], b"[]"):
        with pytest.raises(ManifestError):
            decoded(content)


def test_a_key_says_which_attempt_it_is_of() -> None:
    attempt = Attempt(7, "job.1_a-b")
    keys = (attempt.commit(), attempt.part(3), attempt.condemned(), attempt.file(1, "t0", "a/b.bin"))
    assert [attempt_of(key) for key in keys] == [attempt] * 4
    assert attempt_of("commits/elsewhere.json") is None
    assert attempt.file(1, "t0", "a/b.bin") == "files/000000000007.job.1_a-b/00001-t0/a/b.bin"


def test_what_would_make_another_key_is_refused() -> None:
    for run in ("", "a/b", "../x", "a" * 121, ".hidden", "a b"):
        with pytest.raises(RunNameError, match="use 1 to 120 letters"):
            Attempt(1, run)
    for step in (-1, 10**12):
        with pytest.raises(ValueError, match="is not between 0 and"):
            Attempt(step, "run")


def test_the_newest_and_every_so_many_steps_are_kept() -> None:
    attempts = [Attempt(step, "run") for step in range(100, 1100, 100)]
    assert sorted(a.step for a in kept(attempts, Retention(last=2, every_steps=500))) == [500, 900, 1000]
    assert sorted(a.step for a in kept(attempts, Retention(last=1))) == [1000]
    # Two runs that saved one step are kept together, and count once.
    twice = [*attempts, Attempt(1000, "other")]
    assert sorted(a.run for a in kept(twice, Retention(last=1))) == ["other", "run"]
    assert kept([], Retention()) == frozenset()


@pytest.mark.parametrize(
    "wrong", [{"last": 0}, {"every_steps": 0}, {"grace_seconds": 599}, {"reading_seconds": 1}, {"abandoned_seconds": 1}]
)
def test_a_retention_that_deletes_what_is_in_use_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Retention(**wrong)
