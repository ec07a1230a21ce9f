"""AWS Batch over the compute environments and queues that stacks have made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from local.emulator.api.answers import Entry, json_page
from local.emulator.api.errors import AwsError
from local.emulator.api.requests import service_model
from local.emulator.batch.casing import cased, of_template
from local.emulator.resources.store import Resource, ResourceStore

ENVIRONMENT: Final = "AWS::Batch::ComputeEnvironment"
QUEUE: Final = "AWS::Batch::JobQueue"
_READY: Final = {ENVIRONMENT: "ComputeEnvironment Healthy", QUEUE: "JobQueue Healthy"}


@dataclass(slots=True)
class Batch:
    """One account's Batch. What UpdateComputeEnvironment changes stays until a deploy changes the environment."""

    resources: ResourceStore

    def describe_environments(self, region: str, request: Mapping[str, Any]) -> Entry:
        """DescribeComputeEnvironments."""
        found, more = self._described(region, ENVIRONMENT, request.get("computeEnvironments"), request)
        return {"computeEnvironments": found, **more}

    def describe_queues(self, region: str, request: Mapping[str, Any]) -> Entry:
        """DescribeJobQueues."""
        found, more = self._described(region, QUEUE, request.get("jobQueues"), request)
        return {"jobQueues": found, **more}

    def _described(
        self, region: str, type_name: str, names: list[str] | None, request: Mapping[str, Any]
    ) -> tuple[list[Entry], Entry]:
        found = self.resources.of_type(region, type_name)
        # A name that nothing has is left out, as Batch leaves it out.
        chosen = [each for each in found if not names or {_name(each), each.physical_id} & set(names)]
        return json_page([_entry(each) for each in chosen], request)

    def update_environment(self, region: str, request: Mapping[str, Any]) -> Entry:
        """UpdateComputeEnvironment: the state, the role, and what is given of the compute resources.

        Raises:
            AwsError: there is no such environment, or the sizes do not fit each other.
        """
        made = self.find(region, ENVIRONMENT, str(request.get("computeEnvironment", "")))
        resources = made.properties.get("ComputeResources", {}) | cased(request.get("computeResources") or {})
        if resources.get("MinvCpus", 0) > resources.get("MaxvCpus", 0):
            message = "Error executing request, Exception : minvCpus must be less than or equal to maxvCpus"
            raise AwsError("ClientException", message)
        made.properties["ComputeResources"] = resources
        if "state" in request:
            made.properties["State"] = request["state"]
        if "serviceRole" in request:
            made.properties["ServiceRole"] = request["serviceRole"]
        return {"computeEnvironmentName": _name(made), "computeEnvironmentArn": made.physical_id}

    def update_queue(self, region: str, request: Mapping[str, Any]) -> Entry:
        """UpdateJobQueue: the state, and nothing else of it."""
        made = self.find(region, QUEUE, str(request.get("jobQueue", "")))
        if "state" in request:
            made.properties["State"] = request["state"]
        return {"jobQueueName": _name(made), "jobQueueArn": made.physical_id}

    def find(self, region: str, type_name: str, name: str) -> Resource:
        """A compute environment or a queue, by its name or ARN.

        Raises:
            AwsError: Batch has none of this name.
        """
        for each in self.resources.of_type(region, type_name):
            if name in (_name(each), each.physical_id):
                return each
        raise AwsError("ClientException", f"Object does not exist: {name}")

    def seed_status(self, region: str, name: str, status: str, reason: str) -> Entry:
        """Make a compute environment VALID or INVALID, and say why."""
        made = self.find(region, ENVIRONMENT, name)
        made.attributes.update(Status=status, StatusReason=reason)
        return _entry(made)


def _name(made: Resource) -> str:
    return made.physical_id.rpartition("/")[2]


def _entry(made: Resource) -> Entry:
    is_queue = made.type_name == QUEUE
    kind, prefix = ("JobQueueDetail", "jobQueue") if is_queue else ("ComputeEnvironmentDetail", "computeEnvironment")
    status = {
        "status": made.attributes.get("Status", "VALID"),
        "statusReason": made.attributes.get("StatusReason", _READY[made.type_name]),
    }
    identity = {f"{prefix}Name": _name(made), f"{prefix}Arn": made.physical_id}
    shape = service_model("batch").shape_for(kind)
    return {"state": "ENABLED", **of_template(shape, made.properties), **status, **identity}
