"""What launches a fleet's nodes: its Batch compute environment, where jobs wait for it, or its Auto Scaling group.

A training fleet has the first; an endpoint and a pool have the second.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from fleet.reserved.observed import Activity, Batch, FleetDeployment, Job, Member, ScalingGroup

if TYPE_CHECKING:
    from mypy_boto3_autoscaling import AutoScalingClient
    from mypy_boto3_autoscaling.type_defs import ActivityTypeDef
    from mypy_boto3_batch import BatchClient
    from mypy_boto3_batch.type_defs import JobSummaryTypeDef

# A hundred jobs a page. Batch gives a reason to the job at the head of the queue only.
_PAGES: Final = 10
_LAUNCH: Final = "Launching"
_FAILED: Final = frozenset({"Failed", "Cancelled"})
_OVER: Final = _FAILED | {"Successful"}
# As the activity of a node that is to be stopped begins: AWS's blog "Scaling your applications faster with EC2 Auto
# Scaling Warm Pools" shows it. [UNVERIFIED] for one that failed.
_INTO_POOL: Final = "Launching a new EC2 instance into warm pool"
# The API's greatest pages. Only the newest launches say anything about now.
_ACTIVITIES: Final = 100
_POOL_PAGE: Final = 50


class BatchEnvironments:
    """Training fleets only."""

    def __init__(self, batch: "BatchClient") -> None:
        self._batch = batch

    def of(self, place: FleetDeployment) -> Batch:
        """The fleet's compute environment, and what waits in its queue.

        Raises:
            LookupError: Batch does not show the environment.
        """
        name = _named(place, place.compute_environment, "compute environment")
        answer = self._batch.describe_compute_environments(computeEnvironments=[name])
        if not answer["computeEnvironments"]:
            raise LookupError(f"Batch does not show compute environment {name}")
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

    def keep(self, place: FleetDeployment, vcpus: int) -> None:
        """Make ``vcpus`` the least that the compute environment keeps."""
        self._batch.update_compute_environment(
            computeEnvironment=_named(place, place.compute_environment, "compute environment"),
            computeResources={"minvCpus": vcpus},
        )

    def _waiting(self, place: FleetDeployment) -> Iterator[Job]:
        pages = self._batch.get_paginator("list_jobs").paginate(
            jobQueue=_named(place, place.queue, "job queue"), jobStatus="RUNNABLE"
        )
        for page in islice(pages, _PAGES):
            yield from map(_job, page["jobSummaryList"])


def _job(entry: "JobSummaryTypeDef") -> Job:
    return Job(
        job_id=entry["jobId"],
        nodes=entry.get("nodeProperties", {}).get("numNodes", 1),
        # Milliseconds, as the Batch API counts.
        created_at=datetime.fromtimestamp(entry["createdAt"] / 1000, UTC),
        words=entry.get("statusReason", ""),
    )


class ScalingGroups:
    """Endpoints and pools; fleets on AWS Batch have none."""

    def __init__(self, autoscaling: "AutoScalingClient") -> None:
        self._autoscaling = autoscaling

    def of(self, place: FleetDeployment) -> ScalingGroup:
        """The fleet's group with its launches.

        Raises:
            LookupError: Auto Scaling does not show the group.
        """
        name = _group(place)
        found = self._autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
        if not found:
            raise LookupError(f"Auto Scaling does not show group {name}")
        activities = self._autoscaling.describe_scaling_activities(AutoScalingGroupName=name, MaxRecords=_ACTIVITIES)[
            "Activities"
        ]
        launches = [_activity(each) for each in activities if _is_for_service(each.get("Description", ""))]
        return ScalingGroup(
            desired=found[0]["DesiredCapacity"],
            members=tuple(Member(each["InstanceId"], each["LifecycleState"]) for each in found[0].get("Instances", [])),
            launches=tuple(sorted(launches, key=lambda launch: launch.started_at, reverse=True)),
        )

    def waiting(self, place: FleetDeployment) -> frozenset[str]:
        """Ids of the instances in the group's warm pool; DescribeAutoScalingGroups leaves them out."""
        pages = self._autoscaling.get_paginator("describe_warm_pool").paginate(
            AutoScalingGroupName=_group(place),
            PaginationConfig={"PageSize": _POOL_PAGE},
        )
        return frozenset(each["InstanceId"] for page in pages for each in page["Instances"])

    def keep(self, place: FleetDeployment, nodes: int) -> None:
        """Make the group want ``nodes``."""
        self._autoscaling.set_desired_capacity(AutoScalingGroupName=_group(place), DesiredCapacity=nodes)


def _group(place: FleetDeployment) -> str:
    return _named(place, place.auto_scaling_group, "Auto Scaling group")


def _named(place: FleetDeployment, name: str | None, what: str) -> str:
    if name is None:
        raise LookupError(f"fleet {place.fleet} has no {what}")
    return name


def _is_for_service(description: str) -> bool:
    return description.startswith(_LAUNCH) and not description.startswith(_INTO_POOL)


def _activity(entry: "ActivityTypeDef") -> Activity:
    status = entry["StatusCode"]
    return Activity(
        started_at=entry["StartTime"],
        is_over=status in _OVER,
        has_failed=status in _FAILED,
        words=entry.get("StatusMessage") or entry.get("Cause", ""),
    )
