"""Ending the programs and servers that a run needs, so that none outlives it."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseServer
from typing import Final

import psutil

_PATIENCE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.02


@contextmanager
def in_thread(server: BaseServer) -> Iterator[None]:
    """``server`` answers from a thread of its own until the block ends, and is closed then."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": _POLL_SECONDS}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def stop(process: subprocess.Popen[bytes], patience: float = _PATIENCE_SECONDS) -> None:
    """End a child and everything that it started: ask first, then insist. Safe to call on one that has ended."""
    family = [*_descendants(process.pid), *_of(process.pid)]
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, signal.SIGTERM) if process.poll() is None else None
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    end_all(family, patience=1.0)
    process.wait(patience)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def end_all(processes: list[psutil.Process], patience: float) -> None:
    """Terminate, then kill, whichever of ``processes`` still run."""
    for process in processes:
        with suppress(psutil.Error):
            process.terminate()
    alive = _still_running(processes, patience)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
    _still_running(alive, patience)


def _still_running(processes: list[psutil.Process], patience: float) -> list[psutil.Process]:
    """Those that have not ended after ``patience`` seconds.

    A zombie counts as ended: where process 1 reaps nobody, as in many containers, a grandchild stays one.
    """
    deadline = time.monotonic() + patience
    while (alive := [process for process in processes if _runs(process)]) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return alive


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _of(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return [psutil.Process(pid)]
    return []


def _descendants(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []
