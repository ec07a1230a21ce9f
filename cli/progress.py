"""What a command does while it takes longer than people like to wait: on standard error, so that no pipe has it.

A terminal gets a line that goes away again; a log gets a plain line now and then.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from rich.console import Console

# Nobody needs to be told what is over at once.
_FIRST_SECONDS: Final = 2.0
_EVERY_SECONDS: Final = 10.0
_SELDOM_SECONDS: Final = 60.0
_TERMINAL_EVERY_SECONDS: Final = 0.25
_ERASE: Final = "\r\x1b[K"


@contextmanager
def waiting(what: str, seconds: float | None = None) -> Iterator["Line"]:
    """Say ``what`` is done, and for how long, once it takes ``seconds``."""
    line = Line(what, _FIRST_SECONDS if seconds is None else seconds)
    line.start()
    try:
        yield line
    finally:
        line.end()


class Line:
    """One line about what is done; a thread renews it."""

    def __init__(self, what: str, seconds: float) -> None:
        self._what, self._first = what, seconds
        self._step = ""
        self._began = time.monotonic()
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._console = Console(stderr=True)
        self._is_terminal = self._console.is_terminal and not self._console.is_dumb_terminal
        self._is_shown = False
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def start(self) -> None:
        """Begin to count the seconds."""
        self._thread.start()

    def update(self, step: str) -> None:
        """Say how far it is."""
        self._step = step

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the terminal to what is printed within."""
        with self._lock:
            self._erase()
            yield

    def end(self) -> None:
        """Take the line away."""
        self._is_over.set()
        self._thread.join()
        self._erase()

    def _tell(self) -> None:
        pause = self._first
        while not self._is_over.wait(pause):
            logged = min(max(_EVERY_SECONDS, 2 * pause), _SELDOM_SECONDS)
            pause = _TERMINAL_EVERY_SECONDS if self._is_terminal else logged
            with self._lock:
                if self._is_terminal:
                    self._write(_ERASE + self._text()[: self._console.width - 1])
                    self._is_shown = True
                else:
                    self._write(f"{self._text()}\n")

    def _erase(self) -> None:
        if self._is_shown:
            self._write(_ERASE)
            self._is_shown = False

    def _write(self, text: str) -> None:
        # Whoever reads the errors may be gone; what is done goes on.
        with suppress(OSError, ValueError):
            self._console.file.write(text)
            self._console.file.flush()

    def _text(self) -> str:
        step = f": {self._step}" if self._step else ""
        return f"{self._what}{step}, {time.monotonic() - self._began:.0f} s"
