"""Asks the runtime again and again, in a thread of its own, so that a hung runtime does not hang a health answer."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTimeError
from typing import Final

from fleet.serving.readiness import Step
from workload.serving.health import Health, Runtime

logger = logging.getLogger(__name__)
# EX_TEMPFAIL of sysexits.h: started again, it may work.
RESTART_CODE: Final = 75
EVERY_SECONDS: Final = 10.0
TIMEOUT_SECONDS: Final = 5.0


class Watch:
    """``restart`` ends the process; it is called once, from the watch's own thread."""

    def __init__(
        self,
        health: Health,
        runtime: Runtime,
        restart: Callable[[], None],
        *,
        every: float = EVERY_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        self._health, self._runtime, self._restart = health, runtime, restart
        self._every, self._timeout = every, timeout
        self._stop = threading.Event()
        self._asking: Future[int] | None = None
        # One thread: while the last question hangs there is no use in another.
        self._asker = ThreadPoolExecutor(1, "runtime probe")
        self._thread = threading.Thread(target=self._work, name="health watch", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more; a question that hangs is left behind."""
        self._stop.set()
        self._asker.shutdown(wait=False, cancel_futures=True)

    def once(self) -> Step | None:
        """Ask once, and say what follows."""
        reason, cores = self._ask()
        try:
            return self._health.probed(reason, cores)
        except OSError as error:
            # Without its memory a host would be restarted for ever; it is told at least.
            logger.exception("the host's memory cannot be written: %s", error.strerror)
            return None

    def _ask(self) -> tuple[str, int | None]:
        if self._asking is None:
            self._asking = self._asker.submit(self._question)
        try:
            cores = self._asking.result(self._timeout)
        except NotInTimeError:
            return f"no answer in {self._timeout:g} s", None
        except Exception as error:
            # Whatever a runtime raises says that it failed.
            self._asking = None
            return f"{type(error).__name__}: {error}"[:300], None
        self._asking = None
        return "", cores

    def _question(self) -> int:
        self._runtime.answer()
        return self._runtime.held_cores()

    def _work(self) -> None:
        while not self._stop.is_set():
            step = self.once()
            if step is not None:
                logger.error("the runtime is sick: %s; %s", self._health.live().body.get("reason", ""), step.value)
            if step is Step.RESTART:
                self._restart()
                return
            self._stop.wait(self._every)
