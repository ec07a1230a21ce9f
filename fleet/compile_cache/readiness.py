"""Is an artifact there for whoever would compile it otherwise, as a job or a rollout; and if not, why.

Whoever asks looks into the bucket: the index, the objects below the artifact's prefix, and the indices of the same
model's other artifacts. The judgment is the same for all of them.
"""

import json
from dataclasses import dataclass

from fleet.compile_cache import index
from fleet.compile_cache.artifact import ROOT, Artifact, ArtifactError, of_identity
from fleet.compile_cache.index import ArtifactIndexError, Index


@dataclass(frozen=True, slots=True)
class Sight:
    """``content`` of the artifact's index, None where there is none; ``keys`` of all objects below its prefix.

    ``relatives`` are the same model's artifacts that are there; they only make the answer more helpful.
    """

    content: bytes | None
    keys: frozenset[str] = frozenset()
    relatives: tuple[Artifact, ...] = ()


def why_not_ready(artifact: Artifact, sight: Sight) -> str:
    """One line; empty: its index is there, and every graph that it names."""
    if sight.content is None:
        return f"{describe(artifact)}: was never compiled{_instead(artifact, sight.relatives)}"
    try:
        graphs = index.decode(sight.content, artifact).graphs
    except ArtifactIndexError as error:
        return f"{describe(artifact)}: {error}"
    missing = [graph for graph in graphs if index.graph_key(artifact, graph) not in sight.keys]
    if missing:
        return f"{describe(artifact)}: {len(missing)} of its {len(graphs)} graphs are gone, such as {missing[0]}"
    return "" if graphs else f"{describe(artifact)}: its index names no graph"


def describe(artifact: Artifact) -> str:
    """As people say it: ``meta/llama r1, SDK 2.28, sequence lengths 128,256``."""
    return (
        f"{artifact.model} {artifact.model_version}, SDK {artifact.sdk_version}, sequence lengths {lengths(artifact)}"
    )


def lengths(artifact: Artifact) -> str:
    """As options take them: ``128,256``."""
    return artifact.shapes


def is_index(key: str) -> bool:
    """Whether an artifact's index has this key."""
    return key.startswith(f"{ROOT}/") and key.endswith(f"/{index.NAME}")


def read_index(key: str, content: bytes) -> Index:
    """The index that lies at ``key``, of whichever artifact it is.

    Raises:
        ArtifactIndexError: it is damaged, or of an artifact that has another place.
    """
    try:
        artifact = of_identity(json.loads(content)["artifact"])
    except (ArtifactError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactIndexError(f"{key}: damaged: {error}") from error
    if index.key(artifact) != key:
        raise ArtifactIndexError(f"{key}: of another artifact: {describe(artifact)}")
    return index.decode(content, artifact)


def _instead(artifact: Artifact, relatives: tuple[Artifact, ...]) -> str:
    of_model = [each for each in relatives if each.model == artifact.model]
    if not of_model:
        return ""
    nearest = min(of_model, key=lambda each: (len(_differences(artifact, each)), describe(each)))
    return f"; what is there has {' and '.join(_differences(artifact, nearest))}"


def _differences(wanted: Artifact, there: Artifact) -> list[str]:
    said = {
        f"model version {there.model_version}": wanted.model_version == there.model_version,
        f"SDK {there.sdk_version}": wanted.sdk_version == there.sdk_version,
        f"sequence lengths {lengths(there)}": lengths(wanted) == lengths(there),
    }
    return [difference for difference, is_same in said.items() if not is_same]
