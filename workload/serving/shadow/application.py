"""An ASGI application that records, or answers what was recorded, for as long as it lives.

Nothing of it may keep the endpoint from answering: what fails here is said in the log, and the application goes on.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from workload.errors import ServingError
from workload.serving.shadow import task as tasks
from workload.serving.shadow.recorder import Recorder
from workload.serving.shadow.replay import Replay
from workload.serving.shadow.settings import ShadowSettings
from workload.serving.shadow.tap import Application, Message, Receive, Send, Tap

if TYPE_CHECKING:
    from workload.serving.shadow.adapters import S3Bucket

logger = logging.getLogger(__name__)
_ENDS: Final = "lifespan.shutdown."


class Shadowed:
    """``application`` with a tap; ``is_ready`` says that the task may be given requests."""

    def __init__(self, application: Application, settings: ShadowSettings, is_ready: Callable[[], bool]) -> None:
        self._application, self._settings, self._is_ready = application, settings, is_ready
        self.tap = Tap(application, settings.percent)
        self._recorder: Recorder | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass it on, and live as long as the application does."""
        if scope["type"] != "lifespan":
            await self.tap(scope, receive, send)
            return
        self.tap.state = scope.get("state")
        beside = asyncio.create_task(self._live())

        async def say(message: Message) -> None:
            if message["type"].startswith(_ENDS):
                # Whoever runs this ends the process as soon as it hears it.
                await self._end(beside)
            await send(message)

        try:
            await self._application(scope, receive, say)
        finally:
            beside.cancel()

    async def _end(self, beside: "asyncio.Task[None]") -> None:
        beside.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beside
        if self._recorder is not None:
            await asyncio.to_thread(self._recorder.stop)

    async def _live(self) -> None:
        settings = self._settings
        try:
            task = await asyncio.to_thread(tasks.identify, settings.metadata, settings.candidates)
            bucket = await asyncio.to_thread(_bucket, settings)
            if task.is_candidate:
                count, cosine = settings.min_requests, settings.cosine
                replay = Replay(self.tap, bucket, task, fleet=settings.fleet, min_requests=count, cosine=cosine)
                await replay.run(self._is_ready)
            else:
                self._recorder = self.tap.taker = Recorder(bucket, settings.fleet, task)
                self._recorder.start()
        except ServingError as error:
            logger.warning("requests are neither recorded nor compared: %s", error)
        except Exception:
            logger.exception("requests are neither recorded nor compared")


def _bucket(settings: ShadowSettings) -> "S3Bucket":
    # Importing botocore and reading its data takes seconds: not in the loop that answers.
    from workload.serving.shadow.adapters import S3Bucket  # noqa: PLC0415 - see above

    return S3Bucket(settings.bucket, settings.region)


def shadowed(application: Application, settings: ShadowSettings | None, is_ready: Callable[[], bool]) -> Application:
    """``application`` as it is where the endpoint asks for no shadow, else with one."""
    return application if settings is None else Shadowed(application, settings, is_ready)
