"""The name of a compiled graph: which compiler, which graph, which flags.

Neuron documentation, "Neuron Persistent Cache": an entry is ``neuronxcc-<compiler version>/MODULE_<hash of the
graph>+<hash of the flags>``. The same name is the same graph, compiled by the same compiler with the same flags.
Older ones begin with ``USER_`` or with ``neuroncc``.
"""

import re
from dataclasses import dataclass
from typing import Final

from fleet import FleetError

# Where the compiler keeps its cache when it is told nothing (Neuron documentation, "Neuron Persistent Cache"), and so
# where the agent looks, and what containers are given of their host.
LOCAL_FOLDER: Final = "/var/tmp/neuron-compile-cache"  # noqa: S108 - the compiler's choice
# In it: graphs of the processes that stand before the compiler, and which of them were fetched.
FLIGHT_FOLDER: Final = ".neuron-fleet/flight"
# A name becomes a path and a key, so nothing that has a meaning there may be in it.
_VERSION: Final = re.compile(r"(?:USER_)?neuronx?cc-[0-9A-Za-z][0-9A-Za-z.+_-]{0,100}")
_MODULE: Final = re.compile(r"MODULE_[0-9A-Za-z][0-9A-Za-z.+_-]{0,200}")
_NUMBER: Final = re.compile(r"\d+")


class GraphNameError(FleetError, ValueError):
    """Not the name of a graph; the message shows what was given."""


@dataclass(frozen=True, slots=True, order=True)
class Graph:
    """``version`` is the compiler's folder, ``module`` the graph's folder in it.

    Raises:
        GraphNameError: one of them is not a name that the compiler gives.
    """

    version: str
    module: str

    def __post_init__(self) -> None:
        """Refuse other names."""
        if not is_version(self.version) or not is_module(self.module):
            raise GraphNameError(f"not a graph of the compile cache: {self.version}/{self.module}")

    def __str__(self) -> str:
        """The name as it is written: ``neuronxcc-2.21.18209.0+043b1bf7/MODULE_12+abcd``."""
        return f"{self.version}/{self.module}"


def parse(name: str) -> Graph:
    """The graph that ``str`` wrote.

    Raises:
        GraphNameError: it is not one.
    """
    version, _, module = name.partition("/")
    return Graph(version, module)


def is_version(name: str) -> bool:
    """Whether a folder of this name holds what one compiler version compiled."""
    return _VERSION.fullmatch(name) is not None


def is_module(name: str) -> bool:
    """Whether a folder of this name holds one graph."""
    return _MODULE.fullmatch(name) is not None


def age_order(version: str) -> tuple[int, ...]:
    """Sorts compiler versions from old to new: 2.9 is older than 2.21. The build after ``+`` says nothing of age."""
    return tuple(int(number) for number in _NUMBER.findall(version.partition("+")[0]))
