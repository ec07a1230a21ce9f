"""A file that tells a story in YAML: read whole, and refused in a line."""

from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

Percent = Annotated[float, Field(ge=0, le=100)]
Minute = Annotated[int, Field(ge=0)]
"""Counted from the scenario's start."""


class ScenarioFileError(ValueError):
    """A scenario that cannot be used; the message is one line with the file, the path in it and the mistake."""


class Part(BaseModel):
    """A part of a scenario's file: what is not known in it is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


P = TypeVar("P", bound=Part)


def read(path: Path, story: type[P]) -> P:
    """The ``story`` in ``path``.

    Raises:
        ScenarioFileError: No such file, not YAML, or not such a story.
    """
    try:
        return story.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ScenarioFileError(f"{path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ScenarioFileError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ScenarioFileError(f"{path}: {place or 'the file'}: {first['msg']}") from error
