"""A person's shell in a copy of the project: commands one after the other, exported variables, the same folder.

A program of the project is forked from a process that has imported it already: a command has a process of its own as
it would have in a shell, and not its own seconds of imports.
"""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.templates import PROJECT_FOLDER

# At the top of the project: what is installed, built or measured there, and what no command reads.
_LEFT_OUT: Final = frozenset({"node_modules", "dist", "build", "cdk.out", "tests", "bench"})
_LIMIT_SECONDS: Final = 180.0
_TERMINAL: Final = {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}
# A line of JSON comes in: words, variables and the file for what is printed; the exit code goes out.
_FORKING: Final = """
import json, os, pathlib, pkgutil, sys, tomllib
files = map(pathlib.Path, ("pyproject.toml", "agents/pyproject.toml"))
projects = [tomllib.loads(file.read_text())["project"] for file in files]
programs = {name: pkgutil.resolve_name(target) for each in projects for name, target in each["scripts"].items()}
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        os.environ.clear()
        os.environ.update(order["variables"])
        output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.argv = order["words"]
        try:
            code = programs[sys.argv[0]]() or 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def copied(folder: Path) -> Path:
    """A copy of what the project's commands read, with what is installed beside it."""
    shutil.copytree(PROJECT_FOLDER, folder, ignore=_left_out)
    for installed in (".venv", "node_modules"):
        (folder / installed).symlink_to((PROJECT_FOLDER / installed).resolve())
    return folder


def _left_out(parent: str, names: list[str]) -> set[str]:
    top = _LEFT_OUT if Path(parent) == PROJECT_FOLDER else frozenset()
    return {name for name in names if name in top or name == "__pycache__" or name.startswith(".")}


class ShellSession:
    """Runs commands in ``folder``; end it with the context."""

    def __init__(self, folder: Path, **variables: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self._folder = folder
        self._variables: dict[str, str] = {**inherited, **_TERMINAL, "PYTHONPATH": str(folder), **variables}
        self._output = folder.parent / "printed"
        self._programs = subprocess.Popen(
            [sys.executable, "-c", _FORKING],
            cwd=folder,
            env=self._variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._programs.communicate(timeout=10)

    def run(self, command: str) -> tuple[int, str]:
        """Exit code and all that was printed."""
        words = shlex.split(command)
        if words[0] == "export":
            for word in words[1:]:
                name, _, value = word.partition("=")
                self._variables[name] = value
            return 0, ""
        if words[0] in {"fleet", "fleet-agent"}:
            return self._of_the_project(words)
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=self._folder,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_LIMIT_SECONDS,
            check=False,
        )
        return ended.returncode, ended.stdout

    def _of_the_project(self, words: list[str]) -> tuple[int, str]:
        order = {"words": words, "variables": dict(self._variables), "output": str(self._output)}
        stdin, stdout = self._programs.stdin, self._programs.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()
        code = int(stdout.readline())
        return code, self._output.read_text(encoding="utf-8")
