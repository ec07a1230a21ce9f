"""Starting and ending the programs that the demo needs, so that none outlives it."""

import os
import signal
import subprocess
from contextlib import suppress
from typing import Final

import psutil

_PATIENCE_SECONDS: Final = 5.0


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
    _, alive = psutil.wait_procs(processes, timeout=patience)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=patience)


def _of(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return [psutil.Process(pid)]
    return []


def _descendants(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []
