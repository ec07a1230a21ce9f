"""`fleet validate` and the synthesis agree: what the one calls valid, the other writes, all validations included.

`make test` tries a few of the generated files, `make soak` all of them.
"""

import json
import typing
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Any, Final

import pytest
import yaml
from cfnlint import api as cfnlint
from cfnlint.config import ManualArgs
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from environments import loader
from environments.model import Environment
from tests.support.environment_files import drawn, files
from tests.support.environment_options import LONG, REGION
from tests.support.service_limits import over_limits
from tests.support.synthesis import synthesized

FILES: Final = 300
# One of each kind of fleet, one file of two fleets, and two files that are refused.
QUICK: Final = (0, 1, 2, 3, 4, 5, 12, 13, 16)
CHUNK: Final = 10
# The linter takes ten times as long as the synthesis.
LINTED: Final = 2


def disagreement(folder: Path, number: int) -> str:
    """What is said of file ``number`` on one side only; nothing where both agree."""
    name, content = files(FILES)[number]
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    refused = [f"{file}: {found}" for found in loader.diagnose(file) if found.is_error]
    try:
        made = synthesized(file)
    except Exception as error:
        return f"{number}: validate says {refused or 'valid'}; synth raises {error}"
    if (made.refusal or "") != "\n".join(refused):
        return f"{number}: validate says {refused or 'valid'}; synth says {made.refusal} {made.findings}"
    beyond = [line for name, template in made.templates.items() for line in over_limits(name, template)]
    return f"{number}: both say valid, and {beyond}" if beyond else ""


@pytest.mark.parametrize("number", QUICK)
def test_what_validate_says_of_a_file_is_what_the_synthesis_does(tmp_path: Path, number: int) -> None:
    assert disagreement(tmp_path, number) == ""


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, FILES, CHUNK))
def test_what_validate_says_of_many_files_is_what_the_synthesis_does(tmp_path: Path, first: int) -> None:
    said = [disagreement(tmp_path, number) for number in range(first, first + CHUNK)]
    assert [line for line in said if line] == []


def longest_names(folder: Path) -> Iterator[Path]:
    """The files that are valid with an environment and a fleet that are called as long as may be."""
    for number, (_, content) in enumerate(files(FILES)):
        first, *others = content["fleets"]
        called = {**content, "name": LONG, "fleets": [{**first, "name": LONG}, *others]}
        file = folder / str(number) / f"{LONG}.yaml"
        file.parent.mkdir()
        file.write_text(yaml.safe_dump(called, sort_keys=False, allow_unicode=True), encoding="utf-8")
        if not any(found.is_error for found in loader.diagnose(file)):
            yield file


@pytest.mark.soak
def test_the_schemas_of_cloudformation_take_the_longest_names(tmp_path: Path) -> None:
    tried = list(islice(longest_names(tmp_path), LINTED))
    assert tried
    for file in tried:
        for name, template in synthesized(file).templates.items():
            # A stack that is empty is not deployed.
            if template.get("Resources"):
                matches = cfnlint.lint(json.dumps(template), config=ManualArgs(regions=[REGION]))
                assert [f"{name}: {m}"[:300] for m in matches if m.rule.severity == "error"] == []


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif isinstance(annotation, UnionType) or typing.get_origin(annotation):
        for part in typing.get_args(annotation):
            yield from models_in(part)


def optional_keys(model: type[BaseModel]) -> set[tuple[str, str]]:
    """Every key of the model and its parts that a file may leave out, with the part that it is of."""
    found: set[tuple[str, str]] = set()
    todo, done = [model], {model}
    while todo:
        part = todo.pop()
        for name, field in part.model_fields.items():
            assert isinstance(field, FieldInfo)
            if not field.is_required():
                found.add((part.__name__, name))
            new = set(models_in(field.annotation)) - done
            todo.extend(new)
            done |= new
    return found


def written_keys(part: object) -> Iterator[tuple[str, str]]:
    if isinstance(part, BaseModel):
        for name in part.model_fields_set:
            yield type(part).__name__, name
            yield from written_keys(getattr(part, name))
    elif isinstance(part, tuple | dict):
        for item in part.values() if isinstance(part, dict) else part:
            yield from written_keys(item)


def well_formed(content: dict[str, Any]) -> Environment | None:
    try:
        return Environment.model_validate(content)
    except ValidationError:
        return None


def test_each_key_that_a_file_may_leave_out_is_written_by_some() -> None:
    wanted = optional_keys(Environment)
    assert {("Endpoint", "rollout"), ("Pool", "drain_minutes"), ("Monitoring", "otlp"), ("Window", "at")} <= wanted
    written = {key for _, content in files(FILES) for key in written_keys(well_formed(content))}
    assert wanted - written == set()


def test_the_files_are_the_same_every_time_and_two_in_three_are_valid(tmp_path: Path) -> None:
    assert list(islice(drawn(), 20)) == files(20)
    valid = 0
    for name, content in files(60):
        file = tmp_path / f"{name}.yaml"
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
        valid += not any(found.is_error for found in loader.diagnose(file))
    assert 30 <= valid <= 50
