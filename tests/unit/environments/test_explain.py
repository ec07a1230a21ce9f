"""A mistake anywhere in a file is told in its author's words, whatever part of the file it is in."""

import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from environments import explain
from environments.model import Environment


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a value of this type may be, or holds: of optional ones, unions, tuples and annotated types."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from models_in(inner)


def parts_of(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """Every part of a file below ``model``, by the name that leads pydantic's locations there."""
    for key, field in model.model_fields.items():
        found = list(models_in(field.annotation))
        for part in found:
            # Of several, pydantic says which by the tag, a literal of that part.
            tags = [typing.get_args(f.annotation)[0] for n, f in part.model_fields.items() if n in ("kind", "purpose")]
            yield (tags[0] if tags else key), part
            yield from parts_of(part)


PARTS = sorted({(name, part) for name, part in parts_of(Environment)}, key=str)


def test_the_walk_finds_the_parts_of_an_endpoint() -> None:
    names = {name for name, _ in PARTS}

    assert {"network", "inference", "spot", "endpoint", "clients", "scaling", "targets", "shadow", "email"} <= names


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_every_part_of_a_file_is_known_by_the_name_that_leads_to_it(name: str, part: type[BaseModel]) -> None:
    assert explain.ENVIRONMENT.parts.get(name) is part


def test_no_name_leads_to_a_part_that_is_not_in_a_file() -> None:
    assert set(explain.ENVIRONMENT.parts) == {name for name, _ in PARTS}
