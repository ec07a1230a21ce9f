"""What clients send and are sent: OpenAI's completions and embeddings, as far as this server knows them."""

import base64
import struct
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

_Tokens = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]
Inputs = str | Annotated[list[str], Field(min_length=1)] | _Tokens | Annotated[list[_Tokens], Field(min_length=1)]
"""One text, several, one as tokens, or several as tokens."""
BUCKET_HEADER = "x-neuron-fleet-bucket"
# API reference, completions: "max_tokens … Defaults to 16".
OPENAI_MAX_TOKENS = 16
_INPUTS = "it must be a text, texts, the tokens of one, or of several, and not empty"
_RIGHT = {"prompt": _INPUTS, "input": _INPUTS, "stream": "answers are not streamed here; leave it out"}


class CompletionRequest(BaseModel):
    """Fields that it does not know are passed over, as OpenAI's clients send many."""

    prompt: Inputs
    model: str = ""
    max_tokens: Annotated[int, Field(ge=1, le=4096)] | None = None
    stream: Literal[False] | None = None
    """Passed over, a client that waits for a stream would read nothing and call it an answer."""

    @property
    def most(self) -> int:
        """Tokens that it wants, at most."""
        return OPENAI_MAX_TOKENS if self.max_tokens is None else self.max_tokens


class EmbeddingRequest(BaseModel):
    """OpenAI's own client asks for base64 unless it is told otherwise."""

    input: Inputs
    model: str = ""
    encoding_format: Literal["float", "base64"] = "float"


def sequences(inputs: Inputs, tokens: Callable[[str], Sequence[int]]) -> list[Sequence[int]]:
    """``inputs`` as sequences of tokens; ``tokens`` splits a text."""
    if isinstance(inputs, str):
        return [tokens(inputs)]
    whole = [each for each in inputs if isinstance(each, int)]
    if whole:
        return [whole]
    return [tokens(each) if isinstance(each, str) else each for each in inputs if not isinstance(each, int)]


def completion(model: str, texts: list[str], prompt_tokens: int, tokens: int) -> dict[str, Any]:
    """An answer to a completion."""
    choices = [
        {"index": at, "text": text, "finish_reason": "length", "logprobs": None} for at, text in enumerate(texts)
    ]
    return {
        "id": f"cmpl-{uuid4().hex}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": model,
        "choices": choices,
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": tokens,
            "total_tokens": prompt_tokens + tokens,
        },
    }


def embeddings(model: str, vectors: list[list[float]], tokens: int, encoding: str = "float") -> dict[str, Any]:
    """An answer to a request for embeddings."""
    data = [
        {"object": "embedding", "index": at, "embedding": _base64(vector) if encoding == "base64" else vector}
        for at, vector in enumerate(vectors)
    ]
    return {
        "object": "list",
        "model": model,
        "data": data,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def models(name: str) -> dict[str, Any]:
    """The list of the one model that there is."""
    return {"object": "list", "data": [{"id": name, "object": "model", "created": 0, "owned_by": "neuron-fleet"}]}


async def misread(_: Request, error: Any) -> JSONResponse:  # noqa: ANN401 - Starlette hands any exception over
    """The first finding of a ``RequestValidationError``, in a line."""
    first = error.errors()[0]
    where = next((part for part in first["loc"] if isinstance(part, str) and part != "body"), "body")
    return refusal(400, f"{where}: {_RIGHT.get(where, first['msg'])}", "invalid_request")


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def refusal(status: int, message: str, code: str, **more: int) -> JSONResponse:
    """An error as OpenAI's clients read it."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return JSONResponse({"error": {"message": message, "type": kind, "code": code, **more}}, status)
