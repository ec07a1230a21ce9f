"""An ASGI application around another: what passes through can be kept, and what was kept can be asked again.

Recorded and asked again, an answer takes the time from the whole request being there to the last of the answer being
given out: clients that are slow to send or to read are in neither.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import uuid4

from fleet.shadow.requests import PATHS, is_kept, trace_id

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

# Of a request and of an answer. Long prompts are some ten kilobytes; four hundred embeddings are no sample.
MOST_BYTES: Final = 256 * 1024
_TRACE_HEADER: Final = b"x-amzn-trace-id"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, as they passed. ``at`` is in seconds since 1970; ``is_whole``: nothing was too long."""

    request_id: str
    at: float
    path: str
    status: int
    body: bytes
    answer: bytes
    seconds: float
    is_whole: bool = True


class Taker(Protocol):
    """Whoever keeps exchanges."""

    def offer(self, exchange: Exchange) -> None:
        """Take it, or leave it; at once."""
        ...


class Tap:
    """``asked`` counts what clients asked of the paths that are compared. While ``taker`` is None nothing is kept."""

    def __init__(self, application: Application, percent: float) -> None:
        self._application, self._percent = application, percent
        self.taker: Taker | None = None
        self.asked = 0
        self.state: Mapping[str, Any] | None = None
        """What the application has put aside when it started (ASGI, "Lifespan State"): servers give it to requests."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass it on."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] not in PATHS:
            await self._application(scope, receive, send)
            return
        self.asked += 1
        taker = self.taker
        request_id = _id(scope) if taker is not None else ""
        if taker is None or not is_kept(request_id, self._percent):
            await self._application(scope, receive, send)
            return
        passing = _Passing(receive, send)
        at = time.time()
        await self._application(scope, passing.hear, passing.say)
        # The last of the answer is on its way.
        taker.offer(passing.exchange(request_id, at, scope["path"]))

    async def ask(self, path: str, body: bytes) -> Exchange:
        """What the application answers to ``body``, without a network."""

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(_: Message) -> None:
            return None

        passing = _Passing(_once(receive), send)
        at = time.time()
        await self._application(_scope(path, body, self.state), passing.hear, passing.say)
        return passing.exchange("", at, path)


class _Passing:
    """One request and its answer, looked at on their way."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._body, self._answer = bytearray(), bytearray()
        self._is_whole = True
        self._status = 0
        self._began = self._ended = time.monotonic()

    async def hear(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._keep(self._body, message.get("body", b""))
            self._began = time.monotonic()
        return message

    async def say(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        elif message["type"] == "http.response.body":
            self._keep(self._answer, message.get("body", b""))
            self._ended = time.monotonic()
        await self._send(message)

    def exchange(self, request_id: str, at: float, path: str) -> Exchange:
        seconds = max(0.0, self._ended - self._began)
        body, answer = bytes(self._body), bytes(self._answer)
        return Exchange(request_id, at, path, self._status, body, answer, seconds, self._is_whole)

    def _keep(self, kept: bytearray, part: bytes) -> None:
        if len(kept) + len(part) > MOST_BYTES:
            self._is_whole = False
        else:
            kept += part


def _once(receive: Receive) -> Receive:
    """``receive`` the first time; then nothing more comes, and the client does not go."""
    has_come = False

    async def hear() -> Message:
        nonlocal has_come
        if has_come:
            await asyncio.Event().wait()
        has_come = True
        return await receive()

    return hear


def _id(scope: Message) -> str:
    header = next((value for name, value in scope["headers"] if name == _TRACE_HEADER), b"")
    return trace_id(header.decode("latin-1")) or uuid4().hex


def _scope(path: str, body: bytes, state: Mapping[str, Any] | None) -> Message:
    length = str(len(body)).encode()
    # Each request has a copy of its own, as from a server.
    kept = {} if state is None else {"state": dict(state)}
    return {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), (b"content-length", length)],
        "client": ("127.0.0.1", 0), "server": ("127.0.0.1", 0), **kept,
    }  # fmt: skip
