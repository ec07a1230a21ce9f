"""Where a model's compiled graphs lie in S3: one folder for everything that a change of would need other graphs.

Any change of the model, its version, the Neuron SDK or the sequence lengths gives another folder and overwrites
nothing, so going back to an older model needs no compilation.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fleet import FleetError

ROOT: Final = "neuron-artifacts"
# 64 bits: with 32, ten thousand artifacts of a model would have two under one name once in a hundred times.
_DIGITS: Final = 16
_UNSAFE: Final = re.compile(r"[^0-9A-Za-z._-]+")


class ArtifactError(FleetError, ValueError):
    """An artifact cannot be named; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a set of graphs was compiled for. The order of ``sequence_lengths`` and repetitions do not matter.

    ``batch_sizes`` are those of an endpoint's graphs; empty for training, whose batch is part of the script.

    Raises:
        ArtifactError: one of them is empty, or a length is not positive.
    """

    model: str
    model_version: str
    sdk_version: str
    sequence_lengths: tuple[int, ...]
    batch_sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what would make different artifacts meet in one folder."""
        for what in ("model", "model_version", "sdk_version"):
            if not getattr(self, what).strip():
                raise ArtifactError(f"an artifact needs a {what.replace('_', ' ')}: graphs of different ones would mix")
        if not self.sequence_lengths or min(self.sequence_lengths) < 1:
            raise ArtifactError("an artifact needs the sequence lengths that it was compiled for, each at least 1")
        if self.batch_sizes and min(self.batch_sizes) < 1:
            raise ArtifactError("an artifact's batch sizes are each at least 1")

    @property
    def identity(self) -> dict[str, Any]:
        """All that the folder's name depends on."""
        named: dict[str, Any] = {
            "model": self.model,
            "model_version": self.model_version,
            "neuron_sdk": self.sdk_version,
            "sequence_lengths": sorted(set(self.sequence_lengths)),
        }
        # Only where there are some: an artifact without keeps the place that it has.
        return {**named, "batch_sizes": sorted(set(self.batch_sizes))} if self.batch_sizes else named

    @property
    def shapes(self) -> str:
        """As commands take it: ``128,256``, with batch sizes ``128,256x1,4``."""
        named = self.identity
        lengths = ",".join(map(str, named["sequence_lengths"]))
        return f"{lengths}x{','.join(map(str, named['batch_sizes']))}" if self.batch_sizes else lengths

    @property
    def prefix(self) -> str:
        """``neuron-artifacts/<model>/<hash>``."""
        digest = hashlib.sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()
        return f"{ROOT}/{_UNSAFE.sub('-', self.model)}/{digest[:_DIGITS]}"


def named(model: str, model_version: str, sdk_version: str, shapes: str) -> Artifact:
    """The artifact whose ``shapes`` are written as ``Artifact.shapes`` writes them.

    Raises:
        ArtifactError: they are not, or something else is missing.
    """
    lengths, crossed, batches = shapes.partition("x")
    try:
        sizes = [
            tuple(int(each) for each in text.split(",")) for text in ((lengths, batches) if crossed else (lengths,))
        ]
    except ValueError:
        raise ArtifactError(
            f"not sequence lengths, such as 128,512, or 128,512x1,4 with batch sizes: {shapes}"
        ) from None
    return Artifact(model, model_version, sdk_version, *sizes)


def of_identity(told: Mapping[str, Any]) -> Artifact:
    """The artifact whose ``identity`` that was.

    Raises:
        ArtifactError, KeyError, TypeError, ValueError: it was none.
    """
    return Artifact(
        str(told["model"]),
        str(told["model_version"]),
        str(told["neuron_sdk"]),
        tuple(int(each) for each in told["sequence_lengths"]),
        tuple(int(each) for each in told.get("batch_sizes", ())),
    )
