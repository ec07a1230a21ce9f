"""The roll-up as deployed: its environment variables, and AWS's clients with their timeouts and retries."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3
from botocore.config import Config
from pydantic import Field, Json

from lambdas.cost_report.bill import CostExplorer
from lambdas.cost_report.store import S3Store
from lambdas.shared.settings import FunctionSettings


class Settings(FunctionSettings):
    """``bucket`` holds what arrives and what is made of it; ``instance_types`` are the fleets'."""

    environment: str = Field(alias="ENVIRONMENT")
    bucket: str = Field(alias="BUCKET")
    instance_types: Json[tuple[str, ...]] = Field(alias="INSTANCE_TYPES")


# Nobody waits for it, and the next run is an hour away.
PATIENT: Final = Config(connect_timeout=5, read_timeout=60, retries={"mode": "standard", "total_max_attempts": 4})
# Cost Explorer has one endpoint, whose region this is (AWS General Reference, "Cost Explorer endpoints").
_BILLING_REGION: Final = "us-east-1"


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the roll-up reads and writes, and a place for files while it works."""

    store: S3Store
    bill: CostExplorer
    scratch: Path
    seconds_left: Callable[[], float]


def dependencies(settings: Settings, seconds_left: Callable[[], float]) -> Dependencies:
    """All of it, as deployed; files go to a folder of this run."""
    explorer = boto3.client("ce", region_name=_BILLING_REGION, config=PATIENT)
    return Dependencies(
        store=S3Store(boto3.client("s3", config=PATIENT), settings.bucket),
        bill=CostExplorer(explorer, settings.environment, settings.instance_types),
        scratch=Path(tempfile.mkdtemp(prefix="ledger-")),
        seconds_left=seconds_left,
    )
