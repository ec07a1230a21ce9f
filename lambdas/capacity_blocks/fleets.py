"""What a fleet can be told: through its Batch compute environment and queue, and on its nodes through Run Command."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_batch import BatchClient
    from mypy_boto3_batch.literals import JobStatusType
    from mypy_boto3_batch.type_defs import ComputeEnvironmentDetailTypeDef
    from mypy_boto3_ssm import SSMClient

# Where the node agent looks for marker files, and where job containers see them.
RUN_DIRECTORY: Final = "/run/neuron-fleet"
DOCUMENT: Final = "AWS-RunShellScript"
# How long a node may take to fetch the command; one that is off line has no use for it later.
DELIVERY_SECONDS: Final = 300
_ACTIVE: "Final[tuple[JobStatusType, ...]]" = ("STARTING", "RUNNING")


@dataclass(frozen=True, slots=True)
class BlockFleet:
    """Where a fleet's jobs run, as deployed: ARNs in Batch, and the block that its nodes are launched into."""

    compute_environment: str
    queue: str
    vcpus: int
    """Of one node."""
    instance_type: str
    availability_zone: str
    reservation_id: str | None = None


class BatchFleets:
    """``deployed`` by fleet. Each method may be called again: what is as it should be is left alone."""

    def __init__(
        self, batch: "BatchClient", ssm: "SSMClient", environment: str, deployed: Mapping[str, BlockFleet]
    ) -> None:
        self._batch, self._ssm, self._environment, self._deployed = batch, ssm, environment, deployed

    def scale(self, fleet: str, nodes: int) -> None:
        """Keep ``nodes`` nodes and take jobs; with 0, let go of the nodes as they become idle."""
        place = self._deployed[fleet]
        now = self._describe(place)
        has = now["computeResources"]
        if nodes == 0:
            if has["minvCpus"] != 0:
                self._batch.update_compute_environment(
                    computeEnvironment=place.compute_environment, computeResources={"minvCpus": 0}
                )
            return
        vcpus = nodes * place.vcpus
        if now["state"] == "DISABLED":
            # The block was extended after the drain had begun: its nodes still carry the markers.
            self._run(fleet, f"rm -f {RUN_DIRECTORY}/checkpoint {RUN_DIRECTORY}/drain")
        if (now["state"], has["minvCpus"], has["maxvCpus"]) != ("ENABLED", vcpus, vcpus):
            self._batch.update_compute_environment(
                computeEnvironment=place.compute_environment,
                state="ENABLED",
                computeResources={"minvCpus": vcpus, "maxvCpus": vcpus},
            )

    def checkpoint(self, fleet: str, ends_at: datetime) -> None:
        """Ask the jobs on every node for a checkpoint, by the marker file ``checkpoint``."""
        self._mark(fleet, "checkpoint", f"Capacity Block ends {ends_at:%Y-%m-%dT%H:%M:%SZ}")

    def drain(self, fleet: str) -> None:
        """Place no new job, and ask the running ones to end, by the marker file ``drain``."""
        self._disable(self._deployed[fleet])
        self._mark(fleet, "drain", "Capacity Block ends")

    def stop(self, fleet: str) -> bool:
        """Place no new job and terminate those that run; jobs that wait stay in the queue for the next block.

        Raises:
            ClientError: the first of the jobs that could not be terminated; the others were.
        """
        place = self._deployed[fleet]
        self._disable(place)
        jobs = list(self._jobs(place))
        refusals = []
        for job in jobs:
            try:
                self._batch.terminate_job(jobId=job, reason="The Capacity Block ends; submit again to resume.")
            except ClientError as error:
                refusals.append(error)
        if refusals:
            raise refusals[0]
        return not jobs

    def _describe(self, place: BlockFleet) -> "ComputeEnvironmentDetailTypeDef":
        answer = self._batch.describe_compute_environments(computeEnvironments=[place.compute_environment])
        found = answer["computeEnvironments"]
        if not found:
            raise LookupError(f"Batch does not show compute environment {place.compute_environment}")
        return found[0]

    def _disable(self, place: BlockFleet) -> None:
        if self._describe(place)["state"] != "DISABLED":
            self._batch.update_compute_environment(computeEnvironment=place.compute_environment, state="DISABLED")

    def _jobs(self, place: BlockFleet) -> Iterator[str]:
        for status in _ACTIVE:
            pages = self._batch.get_paginator("list_jobs").paginate(jobQueue=place.queue, jobStatus=status)
            yield from (job["jobId"] for page in pages for job in page["jobSummaryList"])

    def _mark(self, fleet: str, marker: str, text: str) -> None:
        # Renamed into place, so that nobody reads half a line.
        path = f"{RUN_DIRECTORY}/{marker}"
        self._run(fleet, f"printf '%s\\n' '{text}' > {path}.new && mv {path}.new {path}")

    def _run(self, fleet: str, command: str) -> None:
        self._ssm.send_command(
            DocumentName=DOCUMENT,
            Targets=[
                {"Key": "tag:environment", "Values": [self._environment]},
                {"Key": "tag:fleet", "Values": [fleet]},
            ],
            Parameters={"commands": [f"mkdir -p {RUN_DIRECTORY}", command], "executionTimeout": ["60"]},
            TimeoutSeconds=DELIVERY_SECONDS,
            # All at once, and whatever becomes of single nodes.
            MaxConcurrency="100%",
            MaxErrors="100%",
            Comment=f"Capacity Block of {fleet}"[:100],
        )
