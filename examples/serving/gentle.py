"""Uvicorn that goes on for a while after it was told to end."""

import signal
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from workload.serving.health import Health
from workload.serving.leaving import leave


class GentleServer(uvicorn.Server):
    """At the first SIGTERM it is not ready and answers for ``seconds`` more; anything else ends it as ever."""

    def __init__(self, config: uvicorn.Config, health: Health, seconds: float) -> None:
        super().__init__(config)
        self._health, self._seconds = health, seconds
        self._leaves = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Uvicorn's handler of signals."""
        if sig != signal.SIGTERM or self._leaves or not self._seconds:
            super().handle_exit(sig, frame)
            return
        self._leaves = True
        leave(self._health, self._seconds, self._end)

    def _end(self) -> None:
        self.should_exit = True


def serve(app: ASGIApp, health: Health, *, host: str, port: int, leaving_seconds: float) -> None:
    """Serve until told to end. Answers in progress then have the rest of ECS's stop timeout."""
    rest = 55 if leaving_seconds else 25
    config = uvicorn.Config(app, host=host, port=port, access_log=False, timeout_graceful_shutdown=rest)
    GentleServer(config, health, leaving_seconds).run()
