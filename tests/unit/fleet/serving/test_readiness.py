"""Ready is when everything holds, and each thing that does not is named."""

from dataclasses import replace

import pytest

from fleet.serving.readiness import Check, Expected, Seen, findings, is_ready

EXPECTED = Expected(24, frozenset({(128, 1), (256, 1)}), "neuron-artifacts/chat/5f1c")
GOOD = Seen(runtime="", cores=24, ran=EXPECTED.shapes, artifact="")


def failing(seen: Seen) -> dict[Check, str]:
    return {each.check: each.detail for each in findings(EXPECTED, seen) if not each.holds}


def test_ready_when_all_holds() -> None:
    assert is_ready(findings(EXPECTED, GOOD))


@pytest.mark.parametrize(
    ("seen", "check", "said"),
    [
        (replace(GOOD, runtime="no answer in 5 s"), Check.RUNTIME, "no answer in 5 s"),
        (replace(GOOD, runtime=None), Check.RUNTIME, "has not answered yet"),
        (replace(GOOD, cores=22), Check.CORES, "22 of 24 are held"),
        (replace(GOOD, cores=None), Check.CORES, "not counted yet"),
        (replace(GOOD, ran=frozenset({(128, 1)})), Check.BUCKETS, "1 of 2 have not run: 256 x 1"),
        (replace(GOOD, artifact="a graph differs"), Check.ARTIFACT, "a graph differs"),
        (replace(GOOD, artifact=None), Check.ARTIFACT, f"{EXPECTED.artifact}: not compared with its manifest yet"),
        (replace(GOOD, handed_over="sick again"), Check.HOST, "given up: sick again"),
    ],
)
def test_each_thing_that_does_not_hold_is_named_and_is_the_only_one(seen: Seen, check: Check, said: str) -> None:
    assert failing(seen) == {check: said}


def test_nothing_that_was_not_found_out_holds() -> None:
    assert failing(Seen()).keys() == {Check.RUNTIME, Check.CORES, Check.BUCKETS, Check.ARTIFACT}


def test_an_endpoint_without_a_declared_artifact_is_not_asked_for_one() -> None:
    assert is_ready(findings(replace(EXPECTED, artifact=""), replace(GOOD, artifact=None)))
