"""The application: routes, and what happens before the first request and after the last."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from examples.serving.batching import Batcher, QueueFullError
from examples.serving.model import Model
from examples.serving.wire import (
    BUCKET_HEADER,
    CompletionRequest,
    EmbeddingRequest,
    completion,
    embeddings,
    misread,
    models,
    refusal,
    sequences,
)
from fleet.serving.buckets import Buckets, TooLongError
from fleet.serving.readiness import Step
from workload.errors import RuntimeSickError
from workload.node_agent import Figures
from workload.serving.health import Answer, Health
from workload.serving.watch import Watch

logger = logging.getLogger(__name__)


@dataclass
class Server:
    """What one process is made of. ``prepare`` fetches compiled graphs and says what is wrong with them; ``restart``
    ends the process, to be started again.
    """

    buckets: Buckets
    model: Model
    health: Health
    figures: Figures
    prepare: Callable[[], str]
    restart: Callable[[], None]
    name: str = "model"
    report_seconds: float = 10.0
    is_loaded: bool = False

    def answer(self) -> None:
        """For the watch: until the model is loaded there is nobody to ask."""
        if not self.is_loaded:
            raise RuntimeSickError("the model is being loaded")
        self.model.answer()

    def held_cores(self) -> int:
        """For the watch."""
        return self.model.held_cores()


def application(server: Server) -> FastAPI:
    """``server`` as an ASGI application; it loads the model in the background, and says so meanwhile."""
    batcher = Batcher(server.buckets, server.health.ran)
    app = FastAPI(
        title=server.name,
        lifespan=lambda _: _running(server, batcher),
        openapi_url=None,
        exception_handlers={RequestValidationError: misread},
    )
    app.include_router(_what_it_is(server))

    @app.post("/invocations", response_model=None)
    @app.post("/v1/completions", response_model=None)
    async def completions(request: CompletionRequest, response: Response) -> JSONResponse | dict[str, Any]:
        prompts = sequences(request.prompt, server.model.tokens)
        most = request.most
        work = partial(server.model.generate, most=most)
        made = await _asked(server, batcher, prompts, work, ("generate", most))
        if isinstance(made, JSONResponse):
            return made
        response.headers[BUCKET_HEADER] = _bucket(server, prompts)
        tokens, read = sum(each.tokens for each in made), sum(map(len, prompts))
        batcher.load.tokens += tokens
        return completion(request.model or server.name, [each.text for each in made], read, tokens)

    @app.post("/v1/embeddings", response_model=None)
    async def embed(request: EmbeddingRequest, response: Response) -> JSONResponse | dict[str, Any]:
        texts = sequences(request.input, server.model.tokens)
        made = await _asked(server, batcher, texts, server.model.embed, "embed")
        if isinstance(made, JSONResponse):
            return made
        response.headers[BUCKET_HEADER] = _bucket(server, texts)
        read = sum(map(len, texts))
        batcher.load.tokens += read
        return embeddings(request.model or server.name, made, read, request.encoding_format)

    return app


def _what_it_is(server: Server) -> APIRouter:
    """Routes that ask nothing of the model: health, and its name."""
    router = APIRouter()

    @router.get("/healthz/live")
    def live() -> JSONResponse:
        return _told(server.health.live())

    # SageMaker's names for the same: GET /ping and POST /invocations.
    @router.get("/ping")
    @router.get("/healthz/ready")
    def ready() -> JSONResponse:
        return _told(server.health.ready())

    @router.get("/v1/models")
    def listed() -> dict[str, Any]:
        return models(server.name)

    return router


def _told(answer: Answer) -> JSONResponse:
    return JSONResponse(answer.body, answer.status)


def _bucket(server: Server, sequences: list[Sequence[int]]) -> str:
    return str(max(server.buckets.length_for(max(1, len(each))) for each in sequences))


async def _asked(
    server: Server, batcher: Batcher, sequences: list[Sequence[int]], work: Callable[..., list[Any]], kind: object
) -> list[Any] | JSONResponse:
    if not server.is_loaded:
        return refusal(503, "the model is being loaded", "not_ready")
    try:
        # All are looked at before any is executed: half an answer is none.
        for each in sequences:
            server.buckets.length_for(max(1, len(each)))
        return await asyncio.gather(*(batcher.ask(each, work, kind) for each in sequences))
    except TooLongError as error:
        return refusal(413, str(error), "context_length_exceeded", limit=error.limit)
    except QueueFullError as error:
        return refusal(429, str(error), "queue_full")
    except Exception:
        # The model's own words may hold the request.
        logger.exception("an execution failed")
        return refusal(500, "the model failed", "execution_failed")


@contextlib.asynccontextmanager
async def _running(server: Server, batcher: Batcher) -> AsyncIterator[None]:
    watch = Watch(server.health, server, server.restart)
    tasks = [asyncio.create_task(each) for each in (_load(server, batcher), batcher.run(), _report(server, batcher))]
    watch.start()
    try:
        yield
    finally:
        watch.stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        batcher.close()


async def _load(server: Server, batcher: Batcher) -> None:
    try:
        wrong = await asyncio.to_thread(server.prepare)
        server.health.found_artifact(wrong)
        if wrong:
            # Loading would compile, or serve something else: it stays, and says why it is not ready.
            logger.error("not loaded: %s", wrong)
            return
        await asyncio.to_thread(server.model.load)
        await batcher.warm(partial(server.model.generate, most=1))
    except Exception as error:
        logger.exception("the model cannot be loaded")
        if server.health.failed_to_load(f"{type(error).__name__}: {error}"[:300]) is Step.RESTART:
            server.restart()
        return
    server.is_loaded = True


async def _report(server: Server, batcher: Batcher) -> None:
    while True:
        await asyncio.sleep(server.report_seconds)
        tokens, waited = batcher.load.take()
        server.figures.tell(tokens=tokens, in_flight=batcher.load.in_flight, queue_seconds=waited)
