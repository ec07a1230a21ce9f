"""Where a model's compiled graphs lie in S3: one folder for everything that a change of would need other graphs.

Any change of the model, its version, the Neuron SDK or the sequence lengths gives another folder and overwrites
nothing, so going back to an older model needs no compilation.
"""

import hashlib
import json
import re
from collections.abc import Collection
from typing import Final

ROOT: Final = "neuron-artifacts"
# 64 bits: with 32, ten thousand artifacts of a model would have two under one name once in a hundred times.
_DIGITS: Final = 16
_UNSAFE: Final = re.compile(r"[^0-9A-Za-z._-]+")


class ArtifactKeyError(ValueError):
    """A folder cannot be named; the message says what is missing."""


def artifact_prefix(model: str, model_version: str, sdk_version: str, sequence_lengths: Collection[int]) -> str:
    """``neuron-artifacts/<model>/<hash>``. The order of ``sequence_lengths`` and repetitions in it do not matter.

    Raises:
        ArtifactKeyError: one of them is empty, or a length is not positive.
    """
    for what, value in (("model", model), ("model version", model_version), ("SDK version", sdk_version)):
        if not value.strip():
            raise ArtifactKeyError(f"an artifact needs a {what}: graphs of different ones must not meet in one folder")
    if not sequence_lengths or min(sequence_lengths) < 1:
        raise ArtifactKeyError("an artifact needs the sequence lengths that it was compiled for, each at least 1")
    identity = {
        "model": model,
        "model_version": model_version,
        "neuron_sdk": sdk_version,
        "sequence_lengths": sorted(set(sequence_lengths)),
    }
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:_DIGITS]
    return f"{ROOT}/{_UNSAFE.sub('-', model)}/{digest}"
