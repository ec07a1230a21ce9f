"""The two sockets that workloads write to: UDP on the loopback address, and a Unix datagram socket.

Reading is bounded, so that a workload in a loop costs the node little: after ``BYTES_A_MINUTE`` the rest of the minute
is thrown away at a slow pace. It is read all the same, because a full Unix socket would block whoever writes to it.
"""

import errno
import selectors
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")
LOOPBACK: Final = "127.0.0.1"
# DogStatsD's clients send at most 8 KiB at once.
LARGEST_DATAGRAM: Final = 8192
# 128 ranks that send five lines twice a second need about 4 MiB.
BYTES_A_MINUTE: Final = 8 * 1024 * 1024
# What a datagram costs at least, whatever its size.
_SMALLEST_COST: Final = 64
# The kernel gives less where net.core.rmem_max says so.
_RECEIVE_BUFFER: Final = 1024 * 1024
_BATCH: Final = 512
_DISCARD_PAUSE: Final = 0.05


class Receiver:
    """Owns the sockets and the thread that reads them; ``accept`` is called under a lock, one datagram at a time."""

    def __init__(
        self, port: int | None, path: Path, accept: Callable[[bytes], None], allowance: int = BYTES_A_MINUTE
    ) -> None:
        """A ``port`` of 0 takes any free one, None none at all. ``allowance`` is bytes a minute."""
        self._wanted_port, self._path, self._accept = port, path, accept
        self._allowance = self._left = allowance
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._udp: socket.socket | None = None
        self._unix: socket.socket | None = None
        self.oversized = 0
        self.discarded = 0
        self._thread = threading.Thread(target=self._work, name="workload reader", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int | None:
        """The UDP port that is read; None while there is none."""
        return None if self._udp is None else self._udp.getsockname()[1]

    def open(self) -> tuple[str, ...]:
        """Open what is not open yet; what cannot be opened, in words."""
        problems = []
        with self._lock:
            if self._udp is None and self._wanted_port is not None:
                try:
                    self._udp = self._register(_bind_udp(self._wanted_port))
                except OSError as error:
                    problems.append(f"workload: UDP port {self._wanted_port}: {error.strerror or error}")
            if self._unix is None:
                try:
                    self._unix = self._register(_bind_unix(self._path))
                except OSError as error:
                    problems.append(f"workload: {self._path.name}: {error.strerror or error}")
            self._wake.send(b"w")
        return tuple(problems)

    def exchange(self, minute: Callable[[], T]) -> T:
        """What arrived so far is accepted, then ``minute`` is called before anything else is; a new minute begins."""
        with self._lock:
            for source in (self._udp, self._unix):
                while source is not None and self._left > 0 and self._read(source) == _BATCH:
                    continue
            self._left = self._allowance
            result = minute()
            self.oversized = self.discarded = 0
            return result

    def close(self) -> None:
        """Stop reading and remove the Unix socket."""
        self._stop.set()
        self._wake.send(b"w")
        self._thread.join()
        self._selector.close()
        for each in (self._udp, self._unix, self._wake, self._woken):
            if each is not None:
                each.close()
        if self._unix is not None:
            self._path.unlink(missing_ok=True)

    def _register(self, opened: socket.socket) -> socket.socket:
        opened.setblocking(False)
        self._selector.register(opened, selectors.EVENT_READ)
        return opened

    def _work(self) -> None:
        while not self._stop.is_set():
            for key, _ in self._selector.select():
                source = key.fileobj
                if source is self._woken:
                    self._woken.recv(_BATCH)
                elif isinstance(source, socket.socket):
                    with self._lock:
                        self._read(source)
            if self._left <= 0:
                self._stop.wait(_DISCARD_PAUSE)

    def _read(self, source: socket.socket) -> int:
        """Up to a batch of datagrams; how many there were."""
        for count in range(_BATCH):
            try:
                data = source.recv(LARGEST_DATAGRAM + 1)
            except OSError:
                # Nothing more, or an error report of the network that says nothing about what we read.
                return count
            self._take(data)
        return _BATCH

    def _take(self, data: bytes) -> None:
        if self._left <= 0:
            self.discarded += 1
            return
        self._left -= max(len(data), _SMALLEST_COST)
        if len(data) > LARGEST_DATAGRAM:
            self.oversized += 1
            return
        self._accept(data)


def _bind_udp(port: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        opened.bind((LOOPBACK, port))
    except OSError:
        opened.close()
        raise
    return opened


def _bind_unix(path: Path) -> socket.socket:
    _remove_stale(path)
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        opened.bind(str(path))
        # Workloads run as any user.
        path.chmod(0o666)
    except OSError:
        opened.close()
        raise
    return opened


def _remove_stale(path: Path) -> None:
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise FileExistsError(errno.EEXIST, "is there and is not a socket")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            # Left behind by an agent that was killed.
            with suppress(FileNotFoundError):
                path.unlink()
            return
    raise OSError(errno.EADDRINUSE, "another program reads it")
