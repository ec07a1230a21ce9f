"""A limit of time that holds whatever the work waits for: a name server, a connection, an answer."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from lambdas.pager.errors import EnrichmentError

Found = TypeVar("Found")


def within(seconds: float, work: Callable[[], Found]) -> Found:
    """What ``work`` returns or raises. Work that takes longer is left behind and its result forgotten.

    Raises:
        EnrichmentError: it took longer than ``seconds``.
    """
    ended: SimpleQueue[Callable[[], Found]] = SimpleQueue()

    def run() -> None:
        try:
            found = work()
        except Exception as error:
            ended.put(_raising(error))
        else:
            ended.put(lambda: found)

    threading.Thread(target=run, daemon=True).start()
    try:
        result = ended.get(timeout=seconds)
    except Empty:
        raise EnrichmentError(f"AWS did not answer within {seconds:g} s") from None
    return result()


def _raising(error: Exception) -> Callable[[], Found]:
    def again() -> Found:
        raise error

    return again
