"""Closing and opening a fleet in AWS Batch.

A disabled queue takes no job. A disabled compute environment starts none of those that wait, does not scale out, and
lets its idle nodes go; jobs that run go on. Source: API reference, UpdateJobQueue and UpdateComputeEnvironment.
"""

from collections.abc import Mapping

from lambdas.budgets.clients import BatchClient
from lambdas.budgets.ports import BatchPlace


class BatchQueues:
    """What Batch does not answer is raised as botocore does, and done at the next look."""

    def __init__(self, batch: BatchClient) -> None:
        self._batch = batch

    def open_among(self, places: Mapping[str, BatchPlace]) -> frozenset[str]:
        """The fleets of ``places`` whose queue takes jobs."""
        if not places:
            return frozenset()
        # A file has fewer fleets than a page has queues, 100.
        answer = self._batch.describe_job_queues(jobQueues=[place.queue for place in places.values()])
        enabled = {each["jobQueueArn"] for each in answer["jobQueues"] if each["state"] == "ENABLED"}
        return frozenset(fleet for fleet, place in places.items() if place.queue in enabled)

    def close(self, place: BatchPlace) -> None:
        """The queue first: what is submitted in between is refused, and does not wait for a month."""
        self._batch.update_job_queue(jobQueue=place.queue, state="DISABLED")
        self._batch.update_compute_environment(computeEnvironment=place.compute_environment, state="DISABLED")

    def open(self, place: BatchPlace) -> None:
        """The other way round."""
        self._batch.update_compute_environment(computeEnvironment=place.compute_environment, state="ENABLED")
        self._batch.update_job_queue(jobQueue=place.queue, state="ENABLED")
