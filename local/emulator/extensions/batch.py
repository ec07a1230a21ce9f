"""Batch over ``batch._DISPATCH``: ministack knows what was made by its API only, and calls every job a success."""

from ministack.core.responses import get_region
from ministack.services import batch as ministack_batch

from local.emulator.api.documents import served
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
