"""Putting this ``neuronx-cc`` in front of the real one, for the processes of one job."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from workload.compile_cache.compiler import real
from workload.compile_cache.compiler.real import RealCompiler
from workload.errors import CacheError

_ROOT: Final = Path(__file__).parents[3]
# By its interpreter, and not through a shell: the process is then called neuronx-cc, and bears the graph's name among
# its arguments, by which the agent, and whoever removes dead locks, see that the graph is being seen to.
_PROGRAM: Final = """#!{interpreter}
import os, sys
from pathlib import Path

sys.path[0] = {root!r}
from workload.compile_cache.compiler.__main__ import main

sys.exit(main(sys.argv[1:], os.environ, Path(__file__).parent, {known!r}))
"""


def in_front(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The ``PATH`` with which processes find it, in ``folder``; nothing where there is no compiler to be in front of.

    Raises:
        OSError: the folder cannot be written.
    """
    path = real.find(variables)
    if path is None:
        return {}
    try:
        # Once for the job: asking takes the compiler a second or two.
        known = {path: RealCompiler(path, variables).version()}
    except CacheError:
        # It is asked again, by who can say what came of it.
        known = {}
    program = folder / real.NAME
    program.write_text(_PROGRAM.format(interpreter=sys.executable, root=str(_ROOT), known=known), encoding="utf-8")
    program.chmod(0o755)
    return {"PATH": os.pathsep.join((str(folder), variables.get("PATH", os.defpath)))}
