"""Where in S3 a graph lies, for whoever knows the graph and not the model that it was archived for.

One small object for each graph names an archive of it. It is written when that archive is there whole, and names the
one that was archived last: an artifact that is purged must not take the graph from those that have it too.
"""

import json
from typing import Final

from fleet import FleetError
from fleet.compile_cache.artifact import ROOT
from fleet.compile_cache.graph import Graph

# No artifact has a folder like it: theirs are called by a hash of sixteen digits, and here follows a compiler's.
_FOLDER: Final = f"{ROOT}/graphs"
SCHEMA: Final = 1
MOST_BYTES: Final = 16 * 1024


class WhereaboutsError(FleetError, ValueError):
    """Not what ``encode`` wrote of the graph; the message says why."""


def key(graph: Graph) -> str:
    """Where the object lies that tells where ``graph`` is."""
    return f"{_FOLDER}/{graph}.json"


def encode(graph: Graph, archive: str) -> bytes:
    """One JSON object: ``graph`` is in the object whose key is ``archive``."""
    return json.dumps({"schema": SCHEMA, "graph": str(graph), "archive": archive}).encode()


def decode(content: bytes, graph: Graph) -> str:
    """The key of the archive of ``graph``.

    Raises:
        WhereaboutsError: it is damaged, of another schema or graph, or names what cannot be that.
    """
    try:
        fields = json.loads(content)
        schema, name, archive = fields["schema"], fields["graph"], fields["archive"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WhereaboutsError(f"{key(graph)}: damaged: {error}") from error
    if (schema, name) != (SCHEMA, str(graph)):
        raise WhereaboutsError(f"{key(graph)}: of another graph, or another schema")
    if not isinstance(archive, str) or not archive.startswith(f"{ROOT}/") or not archive.endswith(f"/{graph}.tar"):
        raise WhereaboutsError(f"{key(graph)}: {archive!r} is no archive of it")
    return archive
