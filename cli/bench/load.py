"""Requests to an endpoint, as many at once or a second as were asked for. Nothing is tried again: a failure is counted.

Closed loop: so many clients, each with its next request when its last one is answered. Open loop: requests at a rate,
whatever becomes of them, as users come.
"""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from fleet.serving.measurement import Sample

# After a failed connection: a client that asks again at once measures nothing but itself.
_PAUSE_SECONDS: Final = 0.05
# Open loop: how many may wait for an answer, beyond which the rate is not one that can be kept up.
MOST_WAITING: Final = 10_000
_PATHS: Final = {"completions": "/v1/completions", "embeddings": "/v1/embeddings"}
APIS: Final = tuple(_PATHS)


class LoadError(Exception):
    """The endpoint cannot be measured; the message is one line."""


@dataclass(frozen=True, slots=True)
class Load:
    """``url`` without the path; ``lengths`` of inputs in tokens, drawn evenly; seconds.

    ``rate`` is requests a second of an open loop; None: a closed one with ``concurrency`` clients.
    """

    url: str
    api: str
    lengths: tuple[int, ...]
    most_tokens: int
    concurrency: int
    rate: float | None
    warm_up: float
    duration: float
    timeout: float
    model: str


@dataclass(frozen=True, slots=True)
class Run:
    """Every request that was made; the window that counts is from ``begin`` to ``end``."""

    samples: list[Sample]
    begin: float
    end: float


def run(load: Load) -> Run:
    """Make the load.

    Raises:
        LoadError: the first request is not answered: there is nothing to measure.
    """
    return asyncio.run(_Driver(load).run())


class _Driver:
    def __init__(self, load: Load) -> None:
        self._load = load
        self._address = load.url.rstrip("/") + _PATHS[load.api]
        # Made before the clock runs: what is measured is the endpoint.
        self._bodies = [_body(load, length) for length in load.lengths]
        # Which length comes when must not differ from run to run.
        self._draw = random.Random(7)  # noqa: S311 - no secret is made of it
        self._samples: list[Sample] = []

    async def run(self) -> Run:
        limit = self._load.concurrency if self._load.rate is None else 0
        connector = aiohttp.TCPConnector(limit=limit, ttl_dns_cache=300)
        timeout = aiohttp.ClientTimeout(total=self._load.timeout)
        headers = {"Content-Type": "application/json"}
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as session:
            await self._first(session)
            started = time.perf_counter()
            begin = started + self._load.warm_up
            end = begin + self._load.duration
            if self._load.rate is None:
                await asyncio.gather(*(self._client(session, end) for _ in range(self._load.concurrency)))
            else:
                await self._arrivals(session, self._load.rate, started, end)
        return Run(self._samples, begin, end)

    async def _first(self, session: aiohttp.ClientSession) -> None:
        sample = await self._request(session, time.perf_counter())
        if sample.error:
            raise LoadError(f"{self._address}: {sample.error}; it must answer one request before it is given many")

    async def _client(self, session: aiohttp.ClientSession, end: float) -> None:
        while (now := time.perf_counter()) < end:
            sample = await self._request(session, now)
            self._samples.append(sample)
            if sample.error:
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _arrivals(self, session: aiohttp.ClientSession, rate: float, started: float, end: float) -> None:
        waiting: set[asyncio.Task[None]] = set()
        due = started
        while due < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if len(waiting) >= MOST_WAITING:
                raise LoadError(f"{MOST_WAITING} requests wait for an answer: {rate:g} a second is more than it takes")
            task = asyncio.create_task(self._one(session, due))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
            # People come independently of each other, and so in bursts.
            due += self._draw.expovariate(rate)
        await asyncio.gather(*waiting)

    async def _one(self, session: aiohttp.ClientSession, due: float) -> None:
        self._samples.append(await self._request(session, due))

    async def _request(self, session: aiohttp.ClientSession, due: float) -> Sample:
        body = self._bodies[0] if len(self._bodies) == 1 else self._draw.choice(self._bodies)
        try:
            async with session.post(self._address, data=body, allow_redirects=False) as answer:
                content = await answer.read()
                ended = time.perf_counter()
                if answer.status != 200:
                    return Sample(due, ended, f"HTTP {answer.status}")
        except TimeoutError:
            return Sample(due, time.perf_counter(), "timeout")
        except (aiohttp.ClientError, OSError) as error:
            return Sample(due, time.perf_counter(), _words(error))
        return _answered(due, ended, content)


def _body(load: Load, length: int) -> bytes:
    tokens: Sequence[int] = [1] * length
    if load.api == "embeddings":
        fields: dict[str, Any] = {"input": tokens}
    else:
        fields = {"prompt": tokens, "max_tokens": load.most_tokens}
    return json.dumps({**fields, **({"model": load.model} if load.model else {})}).encode()


def _answered(due: float, ended: float, content: bytes) -> Sample:
    try:
        usage = json.loads(content).get("usage") or {}
        read, made = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    except (ValueError, TypeError, AttributeError):
        return Sample(due, ended, "an answer that is not JSON with usage")
    return Sample(due, ended, "", read, made)


def _words(error: Exception) -> str:
    # Its kind and not its words, which name ports: failures of one kind are counted together.
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"no connection: {error.os_error.strerror or type(error.os_error).__name__}"
    return type(error).__name__
