"""The real compiler: where it is, what version it has, and one run of it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NoReturn

from workload.errors import CacheError

NAME: Final = "neuronx-cc"
# "NeuronX Compiler version 2.27.5334.0+f702b353", in the first line of what `neuronx-cc --version` prints.
_VERSION: Final = re.compile(r"Compiler version (?P<version>\d[\w.+-]*)")
_VERSION_SECONDS: Final = 120.0
_LINES: Final = 20
# A shell adds this to the number of the signal that ended a process; Linux has 64.
_SHELL: Final = 128
_SIGNALS: Final = 64


def without(folder: Path | None, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process that shall not find what is installed in ``folder``."""
    folders = variables.get("PATH", os.defpath).split(os.pathsep)
    kept = [each for each in folders if folder is None or not _is_same(Path(each), folder)]
    return {**variables, "PATH": os.pathsep.join(kept)}


def find(variables: Mapping[str, str]) -> str | None:
    """The compiler's place; None where the PATH of ``variables`` has none."""
    return shutil.which(NAME, path=variables.get("PATH", os.defpath))


class RealCompiler:
    """The compiler at ``path``. ``code`` is what it has ended with, None before; as a shell says it when killed."""

    def __init__(self, path: str, variables: Mapping[str, str]) -> None:
        self.path, self._variables = path, dict(variables)
        self.code: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._is_starting = False
        self._stops: list[int] = []
        self._words: deque[bytes] = deque(maxlen=_LINES)

    def version(self) -> str:
        """Such as 2.21.18209.0+043b1bf7: the cache's folders bear it.

        Raises:
            CacheError: it does not say.
        """
        try:
            done = subprocess.run(
                [self.path, "--version"], env=self._variables, capture_output=True, timeout=_VERSION_SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise CacheError(f"{self.path} --version: {error}") from error
        # Logs of the same program go to either stream.
        match = _VERSION.search((done.stdout + done.stderr).decode("utf-8", "replace"))
        if match is None:
            raise CacheError(f"{self.path} --version: it names no version")
        return match["version"]

    def run(self, arguments: Sequence[str]) -> int:
        """Compile; the exit code. What it prints goes where this process prints. Raises OSError."""
        self._is_starting = True
        self._process = subprocess.Popen([self.path, *arguments], env=self._variables, stderr=subprocess.PIPE)
        self._is_starting = False
        for number in self._stops:
            self._process.send_signal(number)
        assert self._process.stderr is not None  # noqa: S101 - a pipe was asked for
        # Of its own, because what the compiler leaves running may keep the pipe open.
        passing = threading.Thread(target=self._pass_on, args=(self._process.stderr,), daemon=True)
        passing.start()
        code = self._process.wait()
        passing.join(1.0)
        self._process = None
        self.code = code if code >= 0 else _SHELL - code
        return self.code

    @property
    def was_killed(self) -> bool:
        """Whether a signal ended it, which says nothing about the graph."""
        return self.code is not None and _SHELL < self.code <= _SHELL + _SIGNALS

    @property
    def last_words(self) -> str:
        """The last line that it wrote of what went wrong; empty if there is none."""
        lines = (" ".join(line.decode("utf-8", "replace").split()) for line in reversed(self._words))
        return next((line for line in lines if line), "")

    def stop(self, number: int, _: object) -> None:
        """What SIGTERM does: it goes on to the compiler, or ends this process while it waits for somebody else's."""
        if self._process is not None:
            self._process.send_signal(number)
        elif self._is_starting:
            self._stops.append(number)
        else:
            raise SystemExit(_SHELL + number)

    def become(self, arguments: Sequence[str]) -> NoReturn:
        """Go on as the compiler. Raises OSError."""
        # Python ignores them, and what is executed would too.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execve(self.path, [self.path, *arguments], self._variables)

    def _pass_on(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._words.append(line)
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()


def _is_same(folder: Path, other: Path) -> bool:
    try:
        return folder.samefile(other)
    except OSError:
        return False
