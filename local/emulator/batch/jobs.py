"""The jobs of an account, as the Batch API takes and tells them."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from local.emulator.api.answers import Entry, json_page
from local.emulator.api.errors import AwsError
from local.emulator.api.requests import service_model
from local.emulator.batch.casing import of_template
from local.emulator.batch.job import ENDED, Job, node_detail
from local.emulator.batch.retries import strategy
from local.emulator.capacity.batch import QUEUE, Batch
from local.emulator.clock import EmulatorClock

DEFINITION: Final = "AWS::Batch::JobDefinition"
# What DescribeJobs tells again as SubmitJob was told it.
_KEPT: Final = ("parameters", "tags", "shareIdentifier", "timeout", "propagateTags")
# What a queue decides about before it gives anything to a job.
_BEFORE_START: Final = ("SUBMITTED", "PENDING", "RUNNABLE")


@dataclass(slots=True)
class Jobs:
    """In the order of their submission, which is the order in which nodes are given: owners' shares are not played."""

    batch: Batch
    clock: EmulatorClock
    _jobs: dict[str, Job] = field(default_factory=dict)

    def _all(self) -> "list[Job]":
        # A copy, which is made at once: executions of state machines submit from threads of their own.
        return [*self._jobs.values()]

    def milliseconds(self) -> int:
        """The time, as Batch writes it."""
        return round(self.clock.now() * 1000)

    def living(self) -> list[Job]:
        """Those of which something may still become."""
        return [job for job in self._all() if job.status not in ENDED]

    def seed(self, region: str, queue: str, jobs: list[Entry]) -> None:
        """Give a queue these jobs and no others; each has jobId, jobName and status, perhaps statusReason."""
        arn = self.batch.find(region, QUEUE, queue).physical_id
        for held in [job for job in self._all() if job.queue == arn]:
            del self._jobs[held.entry["jobId"]]
        for job in jobs:
            self._add(Job(job, arn))

    def _add(self, job: Job) -> Job:
        arn = f"{job.queue.rpartition(':')[0]}:job/{job.entry['jobId']}"
        job.entry = {"createdAt": self.milliseconds(), **job.entry, "jobArn": arn}
        self._jobs[job.entry["jobId"]] = job
        return job

    def submit(self, region: str, request: Mapping[str, Any]) -> Entry:
        """SubmitJob. One whose definition no stack has made waits, and nothing runs it."""
        queue = self.batch.find(region, QUEUE, str(request.get("jobQueue", "")))
        arn = queue.physical_id
        if queue.properties.get("State") == "DISABLED":
            raise AwsError("ClientException", f"JobQueue {arn} is DISABLED: it takes no job")
        definition = self._definition(region, str(request.get("jobDefinition", "")))
        own: Mapping[str, Any] = definition.get("nodeProperties") or {}
        overrides: Mapping[str, Any] = request.get("nodeOverrides") or {}
        entry: Entry = {"jobId": str(uuid.uuid4()), "status": "RUNNABLE"}
        entry |= {name: request.get(name, "") for name in ("jobName", "jobDefinition")}
        entry |= {name: request[name] for name in _KEPT if name in request}
        if nodes := overrides.get("numNodes") or own.get("numNodes"):
            entry["nodeProperties"] = {"numNodes": nodes, "mainNode": own.get("mainNode", 0), "nodeRangeProperties": []}
        timeout = request.get("timeout") or definition.get("timeout") or {}
        job = Job(
            entry,
            arn,
            own if own else None,
            overrides,
            strategy(definition.get("retryStrategy"), request.get("retryStrategy")),
            timeout.get("attemptDurationSeconds"),
        )
        self._add(job)
        return {name: job.entry[name] for name in ("jobArn", "jobName", "jobId")}

    def _definition(self, region: str, name: str) -> Mapping[str, Any]:
        for each in self.batch.resources.of_type(region, DEFINITION):
            if name.rpartition("/")[2].partition(":")[0] == each.physical_id.rpartition("/")[2].partition(":")[0]:
                found: Mapping[str, Any] = of_template(
                    service_model("batch").shape_for("JobDefinition"), each.properties
                )
                return found
        return {}

    def list(self, region: str, request: Mapping[str, Any]) -> Entry:
        """ListJobs of one queue: by name in whatever state, else by status; without one, those that run.

        Raises:
            AwsError: another filter than JOB_NAME, which nobody needed so far.
        """
        arn = self.batch.find(region, QUEUE, str(request.get("jobQueue", ""))).physical_id
        here = [job.entry for job in self._all() if job.queue == arn]
        if filters := request.get("filters"):
            if filters[0]["name"] != "JOB_NAME":
                raise AwsError("ClientException", f"the embedded AWS does not filter jobs by {filters[0]['name']}")
            wanted = [value.lower() for value in filters[0]["values"]]
            found = [job for job in here if any(_is_named(job["jobName"].lower(), value) for value in wanted)]
        else:
            found = [job for job in here if job["status"] == request.get("jobStatus", "RUNNING")]
        entries, more = json_page(found, request)
        return {"jobSummaryList": entries, **more}

    def describe(self, request: Mapping[str, Any]) -> Entry:
        """DescribeJobs: jobs, and single nodes of them as ``<job>#<index>``; what there is not is left out."""
        found = []
        for asked in request.get("jobs", []):
            job_id, separator, index = str(asked).partition("#")
            job = self._jobs.get(job_id)
            if job is not None and not separator:
                found.append({**job.entry, "jobQueue": job.queue})
            elif job is not None and index.isdecimal() and (detail := node_detail(job, int(index))):
                found.append(detail)
        return {"jobs": found}

    def terminate(self, request: Mapping[str, Any]) -> Entry:
        """TerminateJob: the job fails, for the given reason; one that has ended stays as it is."""
        self._find(request).stop(str(request.get("reason", "")), self.milliseconds())
        return {}

    def cancel(self, request: Mapping[str, Any]) -> Entry:
        """CancelJob: as TerminateJob, but what has started goes on, and that is no error."""
        job = self._find(request)
        if job.status in _BEFORE_START:
            job.stop(str(request.get("reason", "")), self.milliseconds())
        return {}

    def _find(self, request: Mapping[str, Any]) -> Job:
        found = self._jobs.get(str(request.get("jobId", "")))
        if found is None:
            raise AwsError("ClientException", f"Job {request.get('jobId')} does not exist")
        return found


def _is_named(name: str, wanted: str) -> bool:
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted
