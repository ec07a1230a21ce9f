"""``neuron_parallel_compile``, the only process that this room starts.

It runs a few steps of the training script to see which graphs there are, compiles those, and ends with the number of
graphs that failed (Neuron documentation, "PyTorch NeuronX neuron_parallel_compile CLI", and its source).
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from agents.workload.compile_cache.errors import CacheError
from fleet.compile_cache.request import COMPILER


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Its exit code; what it prints goes where this process prints. SIGTERM goes on to it and all that it started.

    Raises:
        CacheError: the image has no such program.
    """
    try:
        process = subprocess.Popen([COMPILER, *command], env=dict(environment), start_new_session=True)
    except OSError as error:
        raise CacheError(f"{COMPILER} cannot be started: {error.strerror}; is torch-neuronx in the image?") from error
    before = signal.signal(signal.SIGTERM, lambda *_: os.killpg(process.pid, signal.SIGTERM))
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGTERM, before)
