"""Tells the browser when there is something new, as server-sent events.

The embedded AWS says so the moment it happens. A real account says nothing: then the stream says ``silent`` and ends,
and the page looks by itself once a minute, which is how often there can be new figures.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import StreamingResponse

from local.dashboards_page.cloud import Cloud

NOBODY_KNOWS = -1


def told(cloud: Cloud) -> Callable[[Request], Awaitable[StreamingResponse]]:
    """The endpoint: a stream of changes, until the browser goes away."""

    async def endpoint(request: Request) -> StreamingResponse:
        return StreamingResponse(_changes(cloud, request), media_type="text/event-stream")

    return endpoint


async def _changes(cloud: Cloud, request: Request) -> AsyncIterator[str]:
    count = NOBODY_KNOWS
    while not await request.is_disconnected():
        now = await asyncio.to_thread(cloud.changed, count)
        if now is None:
            yield "event: silent\ndata: nobody tells\n\n"
            return
        if now == count:
            yield ": nothing new\n\n"
        elif count == NOBODY_KNOWS:
            yield ": told from now on\n\n"
        else:
            yield f"data: {now}\n\n"
        count = now
