"""``neuronx-cc ARGUMENT...``, or ``python -m workload.compile_cache.compiler ARGUMENT...``.

Compilations of a graph of the compile cache are looked for in the fleet first, as the variables of ``settings.py`` say.
For everything else, and where the cache cannot be used, this process becomes the real compiler: it never breaks a job.
Exit code and stderr are the compiler's; 70 and one line: the graph was refused before, or must not be compiled.
"""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from fleet.compile_cache.graph import Graph
from workload.compile_cache import settings as configuration
from workload.compile_cache.compiler import real
from workload.compile_cache.compiler.arguments import read
from workload.compile_cache.compiler.late_clients import LateLeases, LateObjects
from workload.compile_cache.compiler.obtaining import Asked
from workload.compile_cache.compiler.real import RealCompiler

_NOT_FOUND: Final = 127


def main(
    arguments: Sequence[str],
    variables: Mapping[str, str],
    own: Path | None = None,
    known: Mapping[str, str] | None = None,
) -> int:
    """Compile, or become the compiler. ``own``: where this is installed; ``known``: versions by compilers' places."""
    variables = real.without(own, variables)
    path = real.find(variables)
    if path is None:
        sys.stderr.write(f"{real.NAME}: command not found\n")
        return _NOT_FOUND
    compiler = RealCompiler(path, variables)
    compilation = read(arguments)
    if compilation is None or not variables.get(f"{configuration.PREFIX}SHARED"):
        compiler.become(arguments)
    signal.signal(signal.SIGTERM, compiler.stop)
    try:
        settings = configuration.read(variables)
        version = (known or {}).get(path) or compiler.version()
        graph = Graph(f"neuronxcc-{version}", compilation.module)
        table = LateLeases(settings.table, settings.region)
        ready = LateObjects(settings.bucket, settings.region) if settings.bucket else None
        return Asked(settings, compilation, graph, arguments, compiler, table, ready).obtain()
    except Exception as error:
        # Whatever is wrong with the cache must not cost the job.
        sys.stderr.write(f"neuron-fleet: the compile cache is not used: {' '.join(str(error).split())}\n")
    if compiler.code is None:
        compiler.become(arguments)
    return compiler.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
