"""What neuron-monitor prints, read so that neither a stranger on its pipe nor a flood costs the node anything."""

import io
import logging
import select
import threading
import time
from collections.abc import Callable
from typing import IO, Final

logger = logging.getLogger(__name__)
# Seconds of silence after which it is looked whether the process is still there.
_SILENCE: Final = 5.0
_BUFFER: Final = 64 * 1024
# A longer line counts as several.
_LONGEST_LINE: Final = 8192
_LINE_SHOWN: Final = 500
_LINES_A_MINUTE: Final = 60
_MINUTE: Final = 60.0
# What is thrown away is read at this pace, 1.3 MB a second: a monitor that prints in a loop is slowed down by it.
_PAUSE: Final = 0.05


class _Pipe(io.RawIOBase):
    """Ends when nobody can write any more, or when the process has ended and nothing comes.

    A helper that left the process group holds the pipe for as long as it lives, and no signal of ours reaches it.
    """

    def __init__(self, pipe: IO[bytes], has_ended: Callable[[], bool]) -> None:
        self._pipe, self._has_ended = pipe, has_ended
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]  # Buffer is of Python 3.12
        while not self._poll.poll(1000 * _SILENCE):
            if self._has_ended():
                return 0
        data = self._pipe.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._pipe.close()
        super().close()


def lines_of(pipe: IO[bytes] | None, has_ended: Callable[[], bool]) -> io.BufferedReader:
    """An unbuffered ``pipe``, to be read in lines; ``has_ended`` is whether its process has."""
    assert pipe is not None  # noqa: S101 - the process was started with it
    return io.BufferedReader(_Pipe(pipe, has_ended), _BUFFER)


def drain(stream: io.BufferedReader) -> None:
    """Log what comes until it ends: 60 lines a minute, and of the rest its amount and its end."""
    # A full pipe would block the monitor, so it is read even though nobody needs it.
    began, lines, left_out, rest = time.monotonic(), 0, 0, b""
    pause = threading.Event()
    with stream:
        while True:
            if time.monotonic() - began >= _MINUTE:
                _log_rest(left_out, rest)
                began, lines, left_out, rest = time.monotonic(), 0, 0, b""
            if lines < _LINES_A_MINUTE:
                data = stream.readline(_LONGEST_LINE)
                lines += 1
                if data:
                    logger.warning("neuron-monitor says: %s", _text(data[:_LINE_SHOWN]))
            else:
                data = stream.read1(_BUFFER)
                left_out += len(data)
                rest = (rest + data)[-_LINE_SHOWN:]
                pause.wait(_PAUSE)
            if not data:
                _log_rest(left_out, rest)
                return


def _log_rest(size: int, end: bytes) -> None:
    if size:
        logger.warning("neuron-monitor said %d bytes more, which end with: %s", size, _text(end))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip()
