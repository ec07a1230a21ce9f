"""What CloudFormation is changing: the environment's stacks, and the one that makes a fleet's reservation."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from fleet import naming
from fleet.reserved.observed import FleetDeployment, Stack

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.literals import StackStatusType
    from mypy_boto3_cloudformation.type_defs import StackEventTypeDef

_STACK: Final = "AWS::CloudFormation::Stack"
_RESERVATION: Final = "AWS::EC2::CapacityReservation"
# REVIEW_IN_PROGRESS is not among them: such a stack waits for a person, for years if need be.
CHANGING: "Final[tuple[StackStatusType, ...]]" = (
    "CREATE_IN_PROGRESS",
    "UPDATE_IN_PROGRESS",
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "UPDATE_ROLLBACK_IN_PROGRESS",
    "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
    "ROLLBACK_IN_PROGRESS",
    "DELETE_IN_PROGRESS",
)
# An operation that hangs must not keep pages back for as long as it does.
EXCUSED_FOR: Final = timedelta(hours=2)


class ChangingStacks:
    """ListStacks by status: as a rule one short page, however many stacks the account has."""

    def __init__(self, cloudformation: "CloudFormationClient") -> None:
        self._cloudformation = cloudformation

    def of(self, environment: str, now: datetime) -> tuple[str, ...]:
        """Names of the environment's stacks that have been changing for less than two hours.

        Those of reservations are left out: waiting for capacity they change for most of an hour, and no node with them.
        """
        ours, waiting = naming.stack_name(environment, ""), naming.stack_name(environment, naming.reservation_stack(""))
        pages = self._cloudformation.get_paginator("list_stacks").paginate(StackStatusFilter=list(CHANGING))
        return tuple(
            stack["StackName"]
            for page in pages
            for stack in page["StackSummaries"]
            if stack["StackName"].startswith(ours)
            and not stack["StackName"].startswith(waiting)
            and now - stack.get("LastUpdatedTime", stack["CreationTime"]) < EXCUSED_FOR
        )


class ReservationStacks:
    """The newest page of events, a hundred: a stack of one resource needs ten for an operation."""

    def __init__(self, cloudformation: "CloudFormationClient") -> None:
        self._cloudformation = cloudformation

    def of(self, place: FleetDeployment) -> Stack:
        """What became of the stack that makes the fleet's reservation.

        Raises:
            LookupError: the fleet makes none.
        """
        if place.reservation_stack is None:
            raise LookupError(f"fleet {place.fleet} makes no reservation")
        try:
            answer = self._cloudformation.describe_stack_events(StackName=place.reservation_stack)
        except ClientError as error:
            # CloudFormation has no code of its own for it: ValidationError, "Stack [...] does not exist".
            if "does not exist" not in error.response.get("Error", {}).get("Message", ""):
                raise
            return Stack(exists=False)
        events = answer["StackEvents"]
        # Newest first. Of the stack itself there is an event at the beginning and at the end of each operation.
        own = next((event for event in events if event.get("ResourceType") == _STACK), None)
        if own is None or own["ResourceStatus"] == "DELETE_COMPLETE":
            return Stack(exists=False)
        status = own["ResourceStatus"]
        is_busy = status in {"CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS"}
        return Stack(
            exists=True,
            is_busy_since=own["Timestamp"] if is_busy else None,
            failure=_failure(events) if "ROLLBACK" in status or status.endswith("_FAILED") else "",
        )


def _failure(events: "list[StackEventTypeDef]") -> str:
    # A rollback's own events of the reservation come after the failure, and say that it went well.
    for event in events:
        if event.get("ResourceType") == _RESERVATION and event["ResourceStatus"].endswith("_FAILED"):
            return event.get("ResourceStatusReason", "")
    return ""
