"""Which requests are kept, and what of an answer can be compared with another one's."""

import base64
import hashlib
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

COMPLETIONS: Final = "/v1/completions"
EMBEDDINGS: Final = "/v1/embeddings"
PATHS: Final = frozenset({COMPLETIONS, EMBEDDINGS})
# What the load balancer gives each request, and writes into its access log ("Request tracing for your Application Load
# Balancer"). Of what clients send with it nothing else is kept: it could be anything.
_TRACE: Final = re.compile(r"Root=(1-[0-9a-f]{8}-[0-9a-f]{24})")
_STEPS: Final = 2**64


@dataclass(frozen=True, slots=True)
class Answer:
    """What is compared: the texts of a completion, or the vectors of embeddings, in the order of the answer."""

    texts: tuple[str, ...] = ()
    vectors: tuple[tuple[float, ...], ...] = ()


def trace_id(header: str) -> str:
    """The id in an ``X-Amzn-Trace-Id`` header; empty where there is none."""
    found = _TRACE.search(header)
    return found[1] if found else ""


def is_kept(request_id: str, percent: float) -> bool:
    """Whether the request is one of ``percent`` of all: by its id, so that whoever asks gets the same answer."""
    digest = hashlib.blake2b(request_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < _STEPS * percent / 100


def reason_against(path: str, fields: Mapping[str, Any]) -> str:
    """Why the same request may be answered differently by the very same version; empty: it may not.

    A completion is chosen by chance unless ``temperature`` is 0 (OpenAI's default is 1), and a stream is not kept.
    """
    if path == EMBEDDINGS:
        return ""
    if fields.get("stream"):
        return "stream"
    temperature = fields.get("temperature")
    is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    return "" if is_number and temperature == 0 else "temperature"


def answer_in(path: str, body: Any) -> Answer | None:  # noqa: ANN401 - JSON
    """What is to be compared of the JSON of an answer; None where it is not one of that path."""
    try:
        if path == EMBEDDINGS:
            answer = Answer(vectors=tuple(_vector(each["embedding"]) for each in _in_order(body["data"])))
        else:
            answer = Answer(texts=tuple(str(each["text"]) for each in _in_order(body["choices"])))
    except (KeyError, TypeError, ValueError, OverflowError, struct.error):
        return None
    return answer if answer.texts or answer.vectors else None


def _vector(embedding: str | list[float]) -> tuple[float, ...]:
    """Its numbers; with ``encoding_format: base64``, which OpenAI's own client asks for, they are 32-bit floats."""
    if not isinstance(embedding, str):
        return tuple(map(float, embedding))
    packed = base64.b64decode(embedding, validate=True)
    return tuple(number for (number,) in struct.iter_unpack("<f", packed))


def _in_order(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(parts, key=lambda part: int(part["index"]))
