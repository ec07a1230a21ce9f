"""The format of a scenario is in the document: every key and choice, and a whole example."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from local.replay.run import OURS, SETS, replay
from local.replay.scenario import Scenario, load
from local.replay.score import score

_PAGE: Final = (Path(__file__).parents[2] / "docs" / "benchmark.md").read_text(encoding="utf-8")
SECTION: Final = _PAGE.split("## A scenario's file\n")[1].split("\n## ")[0]
WORDS: Final = set(re.findall(r"\w[\w-]*", " ".join(re.findall(r"`([^`\n]+)`", SECTION.split("```")[2]))))


def keys_and_values(schema: dict[str, Any]) -> Iterator[str]:
    """Properties and choices of ``schema`` and of all that it refers to."""
    for part in (schema, *schema["$defs"].values()):
        yield from part.get("properties", ())
        yield from part.get("enum", ())
    for part in schema["$defs"].values():
        for field in part.get("properties", {}).values():
            choices = (field, *field.get("anyOf", ()))
            yield from (value for choice in choices for value in choice.get("enum", ()))


@pytest.mark.parametrize("word", sorted({*keys_and_values(Scenario.model_json_schema())}))
def test_every_key_and_choice_is_in_the_table(word: str) -> None:
    assert word in WORDS


def test_the_example_is_a_scenario_whose_incident_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SECTION.split("```")[1].removeprefix("yaml\n"), encoding="utf-8")
    found = score([replay(load(tmp_path / "mine.yaml"), {OURS: SETS[OURS]})], OURS)

    assert (found.recall, found.precision) == (1, 1)
