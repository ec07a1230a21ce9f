"""The example job as a team would submit it to the local fleet, and the data and buckets that it needs."""

import random
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import boto3
import yaml

from environments.fleets import TrainingFleet
from environments.model import Environment
from local.sandbox.machine import PROJECT

if TYPE_CHECKING:
    from mypy_boto3_s3.literals import BucketLocationConstraintType

EXAMPLE: Final = PROJECT / "examples/pretraining/job.yaml"
DATA: Final = "training-data"
CHECKPOINTS: Final = "training-checkpoints"
# Of examples/pretraining/train.py: what each copy of the model takes in one step.
TOKENS_A_STEP: Final = 8 * 4096
STEPS: Final = 600
# Not at the end of a minute: what is lost then was done since the last save.
SAVED_EVERY: Final = 75
_STEPS_OF_DATA: Final = 3
_SEED: Final = 20261122


def shares(copies: int) -> "list[array[int]]":
    """The tokens of each copy's file: random, and the same in every run."""
    noise = random.Random(_SEED)  # noqa: S311 - data, not a secret
    size = _STEPS_OF_DATA * TOKENS_A_STEP + 4097
    return [array("H", noise.randbytes(2 * size)) for _ in range(copies)]


def put_data(copies: int) -> None:
    """The buckets that the job file names, with a file of tokens for each copy of the model."""
    s3 = boto3.client("s3")
    for bucket in (DATA, CHECKPOINTS):
        s3.create_bucket(
            Bucket=bucket,
            CreateBucketConfiguration={"LocationConstraint": cast("BucketLocationConstraintType", s3.meta.region_name)},
        )
    for number, tokens in enumerate(shares(copies)):
        s3.put_object(Bucket=DATA, Key=f"tokens/part-{number:03d}.bin", Body=tokens.tobytes())


def job_file(folder: Path, environment: Environment, fleet: TrainingFleet) -> Path:
    """examples/pretraining/job.yaml for this fleet: its nodes, our buckets, fewer tokens, saved by steps.

    Orders to save are given less far ahead, because the store is near and the steps are short.
    """
    content: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    content["model"]["config"] = str((EXAMPLE.parent / content["model"]["config"]).resolve())
    content |= {
        "environment": environment.name,
        "fleet": fleet.name,
        "nodes": fleet.nodes,
        "command": [*content["command"][:-1], f"s3://{DATA}/tokens"],
        "variables": {
            **content["variables"],
            "CHECKPOINT_AHEAD_SECONDS": "1.5",
            "CHECKPOINT_LOOK_SECONDS": "0.2",
        },
        "checkpoint": {"location": f"s3://{CHECKPOINTS}/llama-2-7b", "every_steps": SAVED_EVERY},
        "tokens_wanted": float(STEPS * fleet.nodes * TOKENS_A_STEP),
    }
    file = folder / "job.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
