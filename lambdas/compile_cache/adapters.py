"""AWS as the function sees it: clients with their timeouts and retries. boto3 stays in this file."""

from collections.abc import Sequence
from typing import Final

import boto3
from botocore.config import Config
from pydantic import TypeAdapter

from fleet import naming
from lambdas.compile_cache.bucket import Bucket
from lambdas.compile_cache.clients import S3Client, SsmClient, StatesClient, TableClient
from lambdas.compile_cache.ports import Place, World
from lambdas.compile_cache.runs import Runs
from lambdas.compile_cache.settings import Settings

# Step Functions asks again where Lambda fails, and not where AWS does: a call may take its time, 15 s.
PATIENT: Final = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2})
_PLACE: Final = TypeAdapter(Place)


class Parameters:
    """The places of the training ``fleets``, as deployed; a parameter of none of them may not be read."""

    def __init__(self, ssm: SsmClient, environment: str, fleets: Sequence[str]) -> None:
        self._ssm, self._environment, self.fleets = ssm, environment, tuple(fleets)

    def of(self, fleet: str) -> Place:
        """The place of one of ``fleets``."""
        name = naming.precompile_place_parameter(self._environment, fleet)
        return _PLACE.validate_json(self._ssm.get_parameter(Name=name)["Parameter"]["Value"])


def world(settings: Settings) -> World:
    """Everything that the service looks at and writes."""
    s3: S3Client = boto3.client("s3", config=PATIENT)
    dynamodb: TableClient = boto3.client("dynamodb", config=PATIENT)
    states: StatesClient = boto3.client("stepfunctions", config=PATIENT)
    ssm: SsmClient = boto3.client("ssm", config=PATIENT)
    return World(
        artifacts=Bucket(s3, settings.bucket),
        runs=Runs(dynamodb, states, settings.runs_table),
        places=Parameters(ssm, settings.environment, settings.fleets),
    )
