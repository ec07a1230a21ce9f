"""What the compiler is asked for, as far as the cache needs to know it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

_COMPILE: Final = "compile"
_OUTPUT: Final = "--output"
# The file that is compiled bears the graph's name; ``hlo.pb`` until 2023.
_SOURCE: Final = re.compile(r"model\.(?P<module>MODULE_.+)\.hlo(?:_module)?\.pb")
# It makes the compiler leave more than a NEFF, which the cache does not keep (``--pipeline compile SaveTemps``).
_PIPELINE: Final = "--pipeline"


@dataclass(frozen=True, slots=True)
class Compilation:
    """The graph ``module`` in the file ``source``, whose NEFF is to be at ``target``."""

    module: str
    source: Path
    target: Path


def read(arguments: Sequence[str]) -> Compilation | None:
    """A compilation of one graph of the cache; None for whatever else the compiler can do."""
    if _COMPILE not in arguments or any(word.partition("=")[0] == _PIPELINE for word in arguments):
        return None
    targets = [after for word, after in pairwise(arguments) if word == _OUTPUT]
    targets += [word.partition("=")[2] for word in arguments if word.startswith(f"{_OUTPUT}=")]
    found = [(Path(word), match["module"]) for word in arguments if (match := _SOURCE.fullmatch(Path(word).name))]
    if len(found) != 1 or len(targets) != 1 or not targets[0]:
        return None
    ((source, module),) = found
    return Compilation(module, source, Path(targets[0]))
