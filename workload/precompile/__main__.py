"""``python -m workload.precompile MODEL MODEL_VERSION SDK_VERSION 128,256 -- COMMAND...``: one JSON object.

COMMAND is a short run of the training script, without ``neuron_parallel_compile``. The tiers are in environment
variables: ``workload/compile_cache/settings.py``. Exit code 0: the artifact is whole, in the shared tier and in
S3; 1: it is not, and one line says why, here and beside where the artifact would be; 2: wrong arguments.
"""

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from fleet.compile_cache import failure
from fleet.compile_cache.artifact import Artifact, named
from workload.compile_cache import settings as configuration
from workload.compile_cache.adapters import DynamoLeases, S3Objects
from workload.compile_cache.compiler import installing
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.settings import Settings
from workload.compile_cache.tiers.cold import ColdTier
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError
from workload.precompile import compiler
from workload.precompile.pipeline import Pipeline, PrecompileReport

USAGE: Final = "usage: python -m workload.precompile MODEL MODEL_VERSION SDK_VERSION LENGTHS -- COMMAND..."
_JOB: Final = "AWS_BATCH_JOB_ID"


def main(arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    """Make one artifact and print what it consists of; the exit code."""
    try:
        artifact, command = _read(arguments)
    except ValueError as error:
        sys.stderr.write(f"{error}\n{USAGE}\n")
        return 2
    try:
        settings = _settings(variables)
    except CacheError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    try:
        report = _run(settings, variables, artifact, command)
    except (CacheError, OSError) as error:
        reason = " ".join(str(error).split())
        sys.stderr.write(f"{reason}\n")
        _leave(settings, artifact, variables.get(_JOB, ""), reason)
        return 1
    sys.stdout.write(json.dumps(asdict(report)) + "\n")
    return 0


def _settings(variables: Mapping[str, str]) -> Settings:
    settings = configuration.read(variables)
    for name, value in (("TABLE", settings.table), ("BUCKET", settings.bucket)):
        if not value:
            raise CacheError(f"{configuration.PREFIX}{name} is not set: graphs are compiled to be shared")
    return settings


def _run(
    settings: Settings, variables: Mapping[str, str], artifact: Artifact, command: Sequence[str]
) -> PrecompileReport:
    look = Lookup(LocalTier(settings.local), SharedTier(settings.shared))
    with tempfile.TemporaryDirectory() as folder:
        # Where the compiler keeps its cache, whatever the container was told; and which compiler is found first.
        environment = {**variables, "NEURON_COMPILE_CACHE_URL": str(settings.local)}
        environment |= installing.in_front(Path(folder), variables)
        return Pipeline(
            look,
            DynamoLeases(settings.table, settings.region),
            ColdTier(S3Objects(settings.bucket, settings.region), look.shared, look.local),
            lambda words: compiler.run(words, environment),
        ).run(artifact, command)


def _read(arguments: Sequence[str]) -> tuple[Artifact, list[str]]:
    """Raises ValueError."""
    if len(arguments) < 6 or arguments[4] != "--":
        raise ValueError("not an artifact, -- and a command")
    model, model_version, sdk_version, shapes = arguments[:4]
    return named(model, model_version, sdk_version, shapes), list(arguments[5:])


def _leave(settings: Settings, artifact: Artifact, job_id: str, reason: str) -> None:
    """For whoever asked; they see no more of the job than its exit code."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / failure.NAME
            path.write_bytes(failure.encode(job_id, reason))
            S3Objects(settings.bucket, settings.region).upload(path, failure.key(artifact))
    except (CacheError, OSError) as error:
        sys.stderr.write(f"the reason could not be left in the bucket: {error}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
