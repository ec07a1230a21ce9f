"""The embedded AWS's own controls: its readiness, virtual time, and the inbox that pages arrive in."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_QUICK_SECONDS: Final = 15.0
# Setting the clock ends when every alarm has been looked at and every notification delivered.
_CLOCK_SECONDS: Final = 120.0


class EmulatorGoneError(RuntimeError):
    """The embedded AWS does not answer at its address."""


@dataclass(frozen=True, slots=True)
class Status:
    """How much is in the embedded AWS: deployed resources, and metric datums that were accepted."""

    resources: int
    datums: int


@dataclass(frozen=True, slots=True)
class Transition:
    """One alarm's change of state, at a virtual unix second."""

    alarm: str
    before: str
    after: str
    at: float
    reason: str


@dataclass(frozen=True, slots=True)
class InboxMessage:
    """What was posted to ``channel`` at a virtual unix second."""

    channel: str
    received_at: float | None
    body: Any


class EmulatorControl:
    """Speaks to ``/_local`` of one embedded AWS."""

    def __init__(self, endpoint_url: str) -> None:
        self.endpoint_url = endpoint_url.rstrip("/")

    @property
    def inbox_address(self) -> str:
        """Where a person can read the pages that arrived."""
        return f"{self.endpoint_url}/_local/inbox"

    def inbox_url(self, channel: str) -> str:
        """Where a page for ``channel`` is posted."""
        return f"{self.inbox_address}/{channel}"

    def status(self) -> Status | None:
        """What is in it, or None as long as the embedded AWS is not ready."""
        try:
            answer = self._call("/_local/status", None, _QUICK_SECONDS)
        except EmulatorGoneError:
            return None
        return Status(answer["resources"], answer["metrics"]) if answer.get("ready") else None

    def set_clock(self, now: float) -> list[Transition]:
        """Bring virtual time to ``now``; the changes of state on the way, after all notifications were delivered."""
        answer = self._call("/_local/clock", {"now": now}, _CLOCK_SECONDS)
        return [
            Transition(one["alarm"], one["from"], one["to"], float(one["at"]), one["reason"])
            for one in answer["transitions"]
        ]

    def put_service_metrics(self, region: str, namespace: str, datums: Sequence[Mapping[str, object]]) -> None:
        """Write what an AWS service writes, into namespaces closed to PutMetricData, or a function in virtual time."""
        body = {"region": region, "namespace": namespace, "datums": datums}
        self._call("/_local/metrics", body, _QUICK_SECONDS)

    def set_faults(self, faults: Sequence[Mapping[str, object]]) -> None:
        """Inject these failures, and no others: each a ``{"call", "match", "error": {"code", "message"}}``.

        ``call`` is a CloudFormation type, whose creation and change then fail, or "service:Operation" with the
        service's boto3 name. ``match`` may narrow it to calls with these parameters (or, for a type, properties,
        ``StackName`` and ``LogicalResourceId``); nested names are dotted and list items count from 1. On
        "sagemaker:UpdateEndpoint", ``Image`` is that of a container which answers no ping: the update begins and fails.
        """
        self._call("/_local/faults", {"faults": list(faults)}, _QUICK_SECONDS)

    def faults(self) -> list[dict[str, Any]]:
        """The failures that are injected now."""
        injected: list[dict[str, Any]] = self._call("/_local/faults", None, _QUICK_SECONDS)["faults"]
        return injected

    def put_reservation(self, region: str, reservation_id: str, **fields: object) -> dict[str, Any]:
        """Seed a capacity reservation, or change the named fields of any; the answer is how EC2 now shows it.

        Fields: instance_type, availability_zone and total (all needed for a new one), available, type (default or
        capacity-block), start and end (ISO 8601), tags (a mapping), placement_group_arn, and state, which then stays
        until it is seeded anew; None gives it back to the clock.
        """
        return self._call("/_local/reservations", {"region": region, "id": reservation_id, **fields}, _QUICK_SECONDS)

    def put_offering(self, region: str, instance_type: str, zone_ids: Sequence[str]) -> None:
        """Offer an instance type in these zones of the region only."""
        body = {"region": region, "instance_type": instance_type, "zone_ids": list(zone_ids)}
        self._call("/_local/offerings", body, _QUICK_SECONDS)

    def put_free_addresses(self, region: str, subnet: str, available: int) -> None:
        """Leave a subnet so many free addresses."""
        self._call("/_local/subnets", {"region": region, "subnet": subnet, "available": available}, _QUICK_SECONDS)

    def put_quota(self, region: str, code: str, vcpus: float) -> None:
        """Set one of EC2's quotas, such as L-2C3B7624."""
        self._call("/_local/quotas", {"region": region, "code": code, "value": vcpus}, _QUICK_SECONDS)

    def put_price(self, region: str, instance_type: str, kind: str, usd_per_hour: float) -> None:
        """Have AWS's price lists say this; 0 is what they say of what is not sold."""
        body = {"region": region, "instance_type": instance_type, "kind": kind, "usd_per_hour": usd_per_hour}
        self._call("/_local/prices", body, _QUICK_SECONDS)

    def put_compute_environment(self, region: str, name: str, status: str, reason: str) -> None:
        """Make a Batch compute environment of a stack VALID or INVALID; ``name`` may be its ARN."""
        body = {"region": region, "name": name, "status": status, "reason": reason}
        self._call("/_local/compute-environments", body, _QUICK_SECONDS)

    def put_jobs(self, region: str, queue: str, jobs: Sequence[Mapping[str, object]]) -> None:
        """Give a Batch queue these jobs and no others: each a JobSummary with jobId, jobName and status."""
        self._call("/_local/jobs", {"region": region, "queue": queue, "jobs": list(jobs)}, _QUICK_SECONDS)

    def join_cluster(self, region: str, instance: str, *, drains: bool = False) -> None:
        """Say that the ECS agent of an instance of Batch's has started, or drains: whether it can be given a job."""
        body = {"region": region, "instance": instance, "drains": drains}
        self._call("/_local/container-instances", body, _QUICK_SECONDS)

    def report_tasks(self, region: str, instance: str, states: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
        """An ECS agent's report, and all that it has to do: tasks, each to ``run`` or to be stopped."""
        body = {"region": region, "instance": instance, "states": list(states)}
        tasks: list[dict[str, Any]] = self._call("/_local/tasks", body, _QUICK_SECONDS)["tasks"]
        return tasks

    def put_group_activity(self, region: str, group: str, status: str, message: str) -> None:
        """Add a scaling activity to an Auto Scaling group: Failed or Successful, with its StatusMessage."""
        body = {"region": region, "group": group, "status": status, "message": message}
        self._call("/_local/group-activities", body, _QUICK_SECONDS)

    def inbox(self) -> list[InboxMessage]:
        """All pages that have arrived."""
        answer = self._call("/_local/inbox", None, _QUICK_SECONDS)
        return [InboxMessage(one["channel"], one.get("received_at"), one["body"]) for one in answer["messages"]]

    def _call(self, path: str, body: object, timeout: float) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - the address is ours, on this machine
            self.endpoint_url + path, data=data, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:  # noqa: S310 - as above
                answer: dict[str, Any] = json.load(response)
                return answer
        except urllib.error.HTTPError as error:
            text = error.read(500).decode(errors="replace")
            raise EmulatorGoneError(f"the embedded AWS answered {error.code} to {path}: {text}") from error
        except (OSError, ValueError) as error:
            raise EmulatorGoneError(
                f"the embedded AWS does not answer at {self.endpoint_url}{path}: {error}"
            ) from error
