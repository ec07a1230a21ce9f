"""Ending programs: nobody is left, and nobody is waited for who has ended."""

import subprocess
import sys
import time

import psutil

from local.processes import end_all, stop

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
NEGLECTFUL = "import os, sys, time; pid = os.fork(); pid or os._exit(0); print(pid, flush=True); time.sleep(60)"


def test_a_program_that_has_ended_and_was_not_reaped_is_not_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", NEGLECTFUL], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        ended = psutil.Process(int(parent.stdout.readline()))
        while ended.status() != psutil.STATUS_ZOMBIE:
            pass
        began = time.monotonic()
        end_all([ended], patience=5.0)

        assert time.monotonic() - began < 1
        parent.kill()


def test_a_program_that_does_not_listen_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        stop(process, patience=0.1)

        assert process.returncode == -9
