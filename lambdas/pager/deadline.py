"""A limit of time that holds whatever the work waits for: a name server, a connection, an answer."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TypeVar

from lambdas.pager.errors import EnrichmentError

Found = TypeVar("Found")


def within(seconds: float, work: Callable[[], Found]) -> Found:
    """What ``work`` returns or raises. Work that takes longer is left behind and its result forgotten.

    Raises:
        EnrichmentError: it took longer than ``seconds``.
    """
    try:
        return _begun(work).get(timeout=seconds).result()
    except Empty:
        raise EnrichmentError(f"AWS did not answer within {seconds:g} s") from None


def meanwhile(seconds: float, work: Callable[[], Found]) -> Callable[[], Found | None]:
    """Begin ``work`` now; the function that is returned gives what it found.

    It waits until ``seconds`` after the beginning at most, and gives None when the work takes longer or fails.
    """
    ended, until = _begun(work), time.monotonic() + seconds

    def found() -> Found | None:
        try:
            return ended.get(timeout=max(0.0, until - time.monotonic())).result()
        except (Empty, EnrichmentError):
            return None

    return found


def _begun(work: Callable[[], Found]) -> SimpleQueue[Future[Found]]:
    ended: SimpleQueue[Future[Found]] = SimpleQueue()

    def run() -> None:
        future: Future[Found] = Future()
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        ended.put(future)

    # Not a pool's thread: Python waits for those at its end, however late they are.
    threading.Thread(target=run, daemon=True).start()
    return ended
