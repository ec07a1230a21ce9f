"""Which graphs an artifact in S3 consists of. It is written last: without its index an artifact is not there."""

import json
from dataclasses import dataclass
from typing import Final

from fleet import FleetError
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph, GraphNameError, parse

NAME: Final = "index.json"
SCHEMA: Final = 1


class ArtifactIndexError(FleetError, ValueError):
    """Not the artifact's index; the message says why."""


@dataclass(frozen=True, slots=True)
class Index:
    """``artifact`` and its ``graphs``."""

    artifact: Artifact
    graphs: tuple[Graph, ...]

    def encode(self) -> bytes:
        """One JSON object."""
        fields = {"schema": SCHEMA, "artifact": self.artifact.identity, "graphs": [str(each) for each in self.graphs]}
        return json.dumps(fields).encode()


def key(artifact: Artifact) -> str:
    """Where the index of ``artifact`` lies in the bucket."""
    return f"{artifact.prefix}/{NAME}"


def graph_key(artifact: Artifact, graph: Graph) -> str:
    """Where one of its graphs lies."""
    return f"{artifact.prefix}/{graph}.tar"


def decode(content: bytes, artifact: Artifact) -> Index:
    """The index that ``encode`` wrote of ``artifact``.

    Raises:
        ArtifactIndexError: it is damaged, of another schema, or of another artifact.
    """
    try:
        fields = json.loads(content)
        is_its_own = fields["schema"] == SCHEMA and fields["artifact"] == artifact.identity
        graphs = tuple(parse(name) for name in fields["graphs"])
    except (GraphNameError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactIndexError(f"{key(artifact)}: damaged: {error}") from error
    if not is_its_own:
        raise ArtifactIndexError(f"{key(artifact)}: of another artifact, or another schema")
    return Index(artifact, graphs)
