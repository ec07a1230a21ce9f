"""``neuron_parallel_compile``, the only process that this room starts.

It runs a few steps of the training script to see which graphs there are, compiles those, and ends with the number of
graphs that failed (Neuron documentation, "PyTorch NeuronX neuron_parallel_compile CLI", and its source).
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from fleet.compile_cache.request import COMPILER
from workload.errors import CacheError


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Its exit code; what it prints goes where this process prints. SIGTERM goes on to it and all that it started.

    Raises:
        CacheError: the image has no such program.
    """
    started: list[subprocess.Popen[bytes]] = []
    stops: list[int] = []

    def stop(number: int, _: object) -> None:
        stops.append(number)
        for process in started:
            _end(process)

    # Before there is a process: a signal in between would end this one and leave the other alone.
    before = signal.signal(signal.SIGTERM, stop)
    try:
        started.append(subprocess.Popen([COMPILER, *command], env=dict(environment), start_new_session=True))
        if stops:
            _end(started[0])
        return started[0].wait()
    except OSError as error:
        raise CacheError(f"{COMPILER} cannot be started: {error.strerror}; is torch-neuronx in the image?") from error
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
