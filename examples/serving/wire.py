"""What clients send and are sent: OpenAI's completions and embeddings, as far as this server knows them."""

import time
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

Inputs = str | list[str] | list[int]
BUCKET_HEADER = "x-neuron-fleet-bucket"


class CompletionRequest(BaseModel):
    """Fields that it does not know are passed over, as OpenAI's clients send many."""

    prompt: Inputs
    model: str = ""
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 16


class EmbeddingRequest(BaseModel):
    """``input``: one text, several, or one as tokens."""

    input: Inputs
    model: str = ""
    encoding_format: Literal["float"] = "float"


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


def embeddings(model: str, vectors: list[list[float]], tokens: int) -> dict[str, Any]:
    """An answer to a request for embeddings."""
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    return {
        "object": "list",
        "model": model,
        "data": data,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def refusal(status: int, message: str, code: str, **more: int) -> JSONResponse:
    """An error as OpenAI's clients read it."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return JSONResponse({"error": {"message": message, "type": kind, "code": code, **more}}, status)
