"""A fleet's Batch compute environment, and the jobs that wait for it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from fleet.reserved.observed import Batch, Job, Place
from lambdas.capacity_watch.clients import BatchClient

# A hundred jobs a page. Batch gives a reason to the job at the head of the queue only.
_PAGES: Final = 10


class BatchEnvironments:
    """Training fleets only."""

    def __init__(self, batch: BatchClient) -> None:
        self._batch = batch

    def of(self, place: Place) -> Batch:
        """The fleet's compute environment, and what waits in its queue.

        Raises:
            LookupError: Batch does not show the environment.
        """
        answer = self._batch.describe_compute_environments(computeEnvironments=[place.compute_environment])
        if not answer["computeEnvironments"]:
            raise LookupError(f"Batch does not show compute environment {place.compute_environment}")
        entry = answer["computeEnvironments"][0]
        resources = entry["computeResources"]
        return Batch(
            state=entry.get("state", ""),
            status=entry.get("status", ""),
            words=entry.get("statusReason", ""),
            minimum_vcpus=resources.get("minvCpus", 0),
            # Absent until Batch has scaled the environment for the first time.
            desired_vcpus=resources.get("desiredvCpus", 0),
            maximum_vcpus=resources["maxvCpus"],
            waiting=tuple(self._waiting(place)),
        )

    def keep(self, place: Place, vcpus: int) -> None:
        """Make ``vcpus`` the least that the compute environment keeps."""
        self._batch.update_compute_environment(
            computeEnvironment=place.compute_environment, computeResources={"minvCpus": vcpus}
        )

    def _waiting(self, place: Place) -> Iterator[Job]:
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = self._batch.list_jobs(jobQueue=place.queue, jobStatus="RUNNABLE", **more)
            yield from map(_job, page["jobSummaryList"])
            if not page.get("nextToken"):
                return
            more = {"nextToken": page["nextToken"]}


def _job(entry: dict[str, Any]) -> Job:
    return Job(
        job_id=entry["jobId"],
        nodes=entry.get("nodeProperties", {}).get("numNodes", 1),
        # Milliseconds, as the Batch API counts.
        created_at=datetime.fromtimestamp(entry["createdAt"] / 1000, UTC),
        words=entry.get("statusReason", ""),
    )
