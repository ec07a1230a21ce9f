"""Tells whoever looks that something is different now, so that nobody has to ask again and again."""

import asyncio
from contextlib import suppress


class Changes:
    """Counts them. Lives on the server's event loop: no other thread may call it."""

    def __init__(self) -> None:
        self._count = 0
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Something changed."""
        self._count += 1
        self._next.set()
        self._next = asyncio.Event()

    async def after(self, count: int, seconds: float) -> int:
        """The count as soon as it is not ``count`` any more, or ``count`` itself after so many seconds."""
        if self._count == count:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._next.wait(), seconds)
        return self._count
