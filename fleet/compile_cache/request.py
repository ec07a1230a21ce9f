"""A request to compile a model's graphs before they are needed, and the object in S3 that is one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fleet import FleetError, container_overrides
from fleet.compile_cache.artifact import Artifact, ArtifactError

# Objects below it ask for a precompilation: ``models/<fleet>/<model>/<model version>.json``.
MODELS: Final = "models"
FIELDS: Final = ("fleet", "model", "model_version", "sdk_version", "sequence_lengths", "command")
COMPILER: Final = "neuron_parallel_compile"
# Only a request for an endpoint's graphs has it.
BATCH_SIZES: Final = "batch_sizes"
_LONGEST_TEXT: Final = 200
_MOST_LENGTHS: Final = 64


class RequestError(FleetError, ValueError):
    """A request that cannot be carried out; the message is one line that says what would be right."""


@dataclass(frozen=True, slots=True)
class PrecompileRequest:
    """``command`` is a short run of the training script; COMPILER runs it to see which graphs there are."""

    fleet: str
    artifact: Artifact
    command: tuple[str, ...]


def read(fields: object) -> PrecompileRequest:
    """A request in the form of FIELDS.

    Raises:
        RequestError: a field is missing, unknown, or not what it can be.
    """
    if not isinstance(fields, Mapping):
        raise RequestError(f"a request is one JSON object with {', '.join(FIELDS)}")
    missing, unknown = [name for name in FIELDS if name not in fields], sorted(set(fields) - {*FIELDS, BATCH_SIZES})
    if missing:
        raise RequestError(f"the request lacks {', '.join(missing)}; it has {', '.join(FIELDS)}")
    if unknown:
        raise RequestError(f"the request has an unknown field {unknown[0]}; it has {', '.join(FIELDS)}")
    fleet, model, model_version, sdk_version = (_text(fields, name) for name in FIELDS[:4])
    try:
        artifact = Artifact(model, model_version, sdk_version, *_sizes(fields))
    except ArtifactError as error:
        raise RequestError(str(error)) from error
    return PrecompileRequest(fleet, artifact, _command(fields["command"]))


def read_object(key: str, content: bytes) -> PrecompileRequest:
    """The request that the object ``key`` holds; what its name says of the model must be what it says itself.

    Raises:
        RequestError: it is none.
    """
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{key}: not JSON: {error}") from error
    try:
        request = read(fields)
    except RequestError as error:
        raise RequestError(f"{key}: {error}") from error
    if object_key(request) != key:
        raise RequestError(f"{key}: what it holds belongs to {object_key(request)}")
    return request


def object_key(request: PrecompileRequest) -> str:
    """Where a request lies as an object."""
    artifact = request.artifact
    return f"{MODELS}/{request.fleet}/{artifact.model}/{artifact.model_version}.json"


def _text(fields: Mapping[Any, Any], name: str) -> str:
    value = fields[name]
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_TEXT or not value.isprintable():
        raise RequestError(f"{name} is one line of at most {_LONGEST_TEXT} characters, not {_shown(value)}")
    return value


def _sizes(fields: Mapping[Any, Any]) -> list[tuple[int, ...]]:
    return [_whole(name, fields[name]) for name in ("sequence_lengths", BATCH_SIZES) if name in fields]


def _whole(name: str, value: object) -> tuple[int, ...]:
    right = f"{name} is a list of at most {_MOST_LENGTHS} whole numbers, such as [2048, 4096]"
    if not isinstance(value, list) or not 0 < len(value) <= _MOST_LENGTHS:
        raise RequestError(f"{right}, not {_shown(value)}")
    for each in value:
        if isinstance(each, bool) or not isinstance(each, int):
            raise RequestError(f"{right}, not {_shown(value)}")
    return tuple(value)


def _command(value: object) -> tuple[str, ...]:
    right = 'command is a list of words, such as ["torchrun", "train.py"]'
    if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
        raise RequestError(f"{right}, not {_shown(value)}")
    if container_overrides.length(value) > container_overrides.LONGEST:
        longest = container_overrides.LONGEST
        raise RequestError(f"command is longer than {longest} characters: put it into the image as a script")
    if value[0].rpartition("/")[2] == COMPILER:
        raise RequestError(f"command is what {COMPILER} runs: leave that word out")
    return tuple(value)


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
