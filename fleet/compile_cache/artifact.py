"""Where a model's compiled graphs lie in S3: one folder for everything that a change of would need other graphs.

Any change of the model, its version, the Neuron SDK or the sequence lengths gives another folder and overwrites
nothing, so going back to an older model needs no compilation.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Final

ROOT: Final = "neuron-artifacts"
# 64 bits: with 32, ten thousand artifacts of a model would have two under one name once in a hundred times.
_DIGITS: Final = 16
_UNSAFE: Final = re.compile(r"[^0-9A-Za-z._-]+")


class ArtifactError(ValueError):
    """An artifact cannot be named; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a set of graphs was compiled for. The order of ``sequence_lengths`` and repetitions do not matter.

    Raises:
        ArtifactError: one of them is empty, or a length is not positive.
    """

    model: str
    model_version: str
    sdk_version: str
    sequence_lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse what would make different artifacts meet in one folder."""
        for what in ("model", "model_version", "sdk_version"):
            if not getattr(self, what).strip():
                raise ArtifactError(f"an artifact needs a {what.replace('_', ' ')}: graphs of different ones would mix")
        if not self.sequence_lengths or min(self.sequence_lengths) < 1:
            raise ArtifactError("an artifact needs the sequence lengths that it was compiled for, each at least 1")

    @property
    def identity(self) -> dict[str, Any]:
        """All that the folder's name depends on."""
        return {
            "model": self.model,
            "model_version": self.model_version,
            "neuron_sdk": self.sdk_version,
            "sequence_lengths": sorted(set(self.sequence_lengths)),
        }

    @property
    def prefix(self) -> str:
        """``neuron-artifacts/<model>/<hash>``."""
        digest = hashlib.sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()
        return f"{ROOT}/{_UNSAFE.sub('-', self.model)}/{digest[:_DIGITS]}"
