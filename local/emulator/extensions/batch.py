"""Batch over ``batch._DISPATCH``: ministack knows what was made by its API only, and calls every job a success.

Step Functions' own way to AWS Batch, ``submitJob.sync``, which ministack's interpreter does not know.
"""

import json
import time
from collections.abc import Mapping
from typing import Any, Final

from ministack.core.responses import get_region
from ministack.services import batch as ministack_batch
from ministack.services import stepfunctions

from local.emulator.api.answers import served
from local.emulator.api.errors import AwsError
from local.emulator.batch.jobs import Jobs
from local.emulator.capacity.account import Capacity


def answer_batch(capacity: Capacity) -> None:
    """Replace what reads and changes; what makes environments and queues is CloudFormation's alone."""
    batch, jobs = capacity.batch, capacity.jobs
    operations = {
        "describecomputeenvironments": lambda request: batch.describe_environments(get_region(), request),
        "updatecomputeenvironment": lambda request: batch.update_environment(get_region(), request),
        "describejobqueues": lambda request: batch.describe_queues(get_region(), request),
        "updatejobqueue": lambda request: batch.update_queue(get_region(), request),
        "listjobs": lambda request: jobs.list(get_region(), request),
        "describejobs": jobs.describe,
        "submitjob": lambda request: jobs.submit(get_region(), request),
        "terminatejob": jobs.terminate,
        "canceljob": jobs.cancel,
    }
    for name, operation in operations.items():
        ministack_batch._DISPATCH[f"/v1/{name}"] = served("batch", operation)
    for name in ("createcomputeenvironment", "createjobqueue"):
        ministack_batch._DISPATCH.pop(f"/v1/{name}")


SUBMIT: Final = "arn:aws:states:::batch:submitJob"
_LOOK_AGAIN: Final = 0.1
# Their keys are anybody's, and are not changed in case.
_MAPS: Final = frozenset({"parameters", "tags"})


def wait_for_jobs(jobs: Jobs) -> None:
    """``stepfunctions._SERVICE_DISPATCH``, and ``_invoke_resource_with_timeout`` for tasks that have one.

    ministack waits in a thread of a pool, which Python joins at its end: an emulator with a job that nobody ends would
    never stop. Executions run in threads of their own, and so this waits there.
    """
    before = stepfunctions._invoke_resource_with_timeout

    def invoke(resource: str, given: Mapping[str, Any], timeout: float) -> Any:  # noqa: ANN401 - JSON
        return _run(jobs, resource, given, timeout) if resource.startswith(SUBMIT) else before(resource, given, timeout)

    stepfunctions._invoke_resource_with_timeout = invoke
    stepfunctions._SERVICE_DISPATCH[SUBMIT] = lambda resource, given: _run(jobs, resource, given, None)


def _run(jobs: Jobs, resource: str, given: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
    """Submit, and with ``.sync`` wait for the end; the answer is DescribeJobs' of the job, with capital letters."""
    try:
        job = jobs.submit(get_region(), _cased(given, str.lower))
    except AwsError as error:
        raise stepfunctions._ExecutionError(f"Batch.{error.code}", str(error)) from error
    if not resource.endswith(".sync"):
        return dict(_cased(job, str.upper))
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        found = jobs.describe({"jobs": [job["jobId"]]})["jobs"]
        seen: dict[str, Any] = _cased(found[0], str.upper) if found else {"JobId": job["jobId"], "Status": "FAILED"}
        if seen["Status"] == "SUCCEEDED":
            return seen
        if seen["Status"] == "FAILED":
            raise stepfunctions._ExecutionError("States.TaskFailed", json.dumps(seen))
        if end is not None and time.monotonic() > end:
            raise stepfunctions._ExecutionError("States.Timeout", "")
        time.sleep(_LOOK_AGAIN)


def _cased(given: Any, first: Any) -> Any:  # noqa: ANN401 - JSON, and str.upper or str.lower
    if isinstance(given, Mapping):
        return {
            first(name[:1]) + name[1:]: value if name.lower() in _MAPS else _cased(value, first)
            for name, value in given.items()
        }
    return [_cased(each, first) for each in given] if isinstance(given, list) else given
