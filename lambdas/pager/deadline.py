"""A limit of time that holds whatever the work waits for: a name server, a connection, an answer."""

import threading
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
    try:
        return ended.get(timeout=seconds).result()
    except Empty:
        raise EnrichmentError(f"AWS did not answer within {seconds:g} s") from None
