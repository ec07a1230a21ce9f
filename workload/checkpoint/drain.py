"""Whether this process must let go of its node, or was asked for a checkpoint. Cheap to ask after every step.

- **SIGTERM**: the scheduler ends the job. Under ECS and AWS Batch SIGKILL follows after the stop timeout, 30 seconds
  unless it was set (ECS task definition parameters, ``stopTimeout``).
- **The marker file ``drain``** in the run directory: the node will be taken away, as at a Capacity Block's end. Save
  and end.
- **The marker file ``checkpoint``**: save, and go on. Each new one is answered once.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from types import FrameType
from typing import Final

RUN_DIRECTORY: Final = Path("/run/neuron-fleet")
_LOOK_SECONDS: Final = 1.0


class Wish(IntEnum):
    """What is wanted of the process, the stronger the higher."""

    NOTHING = 0
    CHECKPOINT = 1
    END = 2


class Drain:
    """``seconds`` lie between two looks at the files; in between an answer costs one look at the clock."""

    def __init__(
        self,
        run_directory: Path = RUN_DIRECTORY,
        seconds: float = _LOOK_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._drain, self._checkpoint = run_directory / "drain", run_directory / "checkpoint"
        self._seconds, self._monotonic = seconds, monotonic
        self._next_look = -float("inf")
        self._ended = False
        self._wanted: tuple[int, int] | None = None
        self._answered: tuple[int, int] | None = None

    def listen(self) -> None:
        """Take SIGTERM as a wish, from now on. A handler that was there before is called too.

        Raises:
            RuntimeError: this is not the main thread, which alone may do this.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("Drain.listen must be called from the main thread")
        before = signal.getsignal(signal.SIGTERM)

        def end(number: int, frame: FrameType | None) -> None:
            self._ended = True
            if callable(before):
                before(number, frame)

        signal.signal(signal.SIGTERM, end)

    def wish(self) -> Wish:
        """What is wanted now. ``END`` stays; ``CHECKPOINT`` until it was ``answered``."""
        now = self._monotonic()
        if not self._ended and now >= self._next_look:
            self._next_look = now + self._seconds
            self._ended = _identity(self._drain) is not None
            self._wanted = _identity(self._checkpoint)
        if self._ended:
            return Wish.END
        return Wish.NOTHING if self._wanted in (None, self._answered) else Wish.CHECKPOINT

    def answered(self) -> None:
        """A save was agreed on: the marker that is there asks for no other one."""
        self._answered = self._wanted


def _identity(path: Path) -> tuple[int, int] | None:
    """What differs between two files of one name; None: none is there, or nobody can say."""
    try:
        about = os.stat(path)  # noqa: PTH116 - as cheap as it can be, because it is asked every second of training
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns
