"""The function as deployed: its environment variables, and AWS's clients with their timeouts and retries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from pydantic import Field, Json, TypeAdapter

from fleet import naming
from lambdas.compile_cache.bucket import Bucket
from lambdas.compile_cache.runs import Runs
from lambdas.shared.settings import FunctionSettings

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient


class Settings(FunctionSettings):
    """The table of precompilations, the bucket of artifacts and requests, and the training fleets."""

    environment: str = Field(alias="ENVIRONMENT")
    runs_table: str = Field(alias="RUNS_TABLE")
    bucket: str = Field(alias="BUCKET")
    fleets: Json[tuple[str, ...]] = Field(alias="FLEETS")


# Step Functions asks again where Lambda fails, and not where AWS does: a call may take its time, 15 s.
PATIENT: Final = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2})


@dataclass(frozen=True, slots=True)
class JobQueue:
    """Where a fleet's graphs are compiled: ARNs of the job queue and the job definition, and the owner's share.

    ``tags`` are those of its jobs.
    """

    queue: str
    definition: str
    share: str
    tags: dict[str, str]


_JOB_QUEUE: Final = TypeAdapter(JobQueue)


class JobQueues:
    """The queues of the training ``fleets``, as deployed; a parameter of none of them may not be read."""

    def __init__(self, ssm: "SSMClient", environment: str, fleets: Sequence[str]) -> None:
        self._ssm, self._environment, self.fleets = ssm, environment, tuple(fleets)

    def of(self, fleet: str) -> JobQueue:
        """The queue of one of ``fleets``."""
        name = naming.precompile_place_parameter(self._environment, fleet)
        return _JOB_QUEUE.validate_json(self._ssm.get_parameter(Name=name)["Parameter"]["Value"])


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the service looks at and writes. Each call may raise what botocore raises."""

    artifacts: Bucket
    runs: Runs
    queues: JobQueues


def dependencies(settings: Settings) -> Dependencies:
    """All of it, as deployed."""
    return Dependencies(
        artifacts=Bucket(boto3.client("s3", config=PATIENT), settings.bucket),
        runs=Runs(
            boto3.client("dynamodb", config=PATIENT), boto3.client("stepfunctions", config=PATIENT), settings.runs_table
        ),
        queues=JobQueues(boto3.client("ssm", config=PATIENT), settings.environment, settings.fleets),
    )
