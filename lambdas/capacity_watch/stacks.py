"""What became of the stack that makes a fleet's reservation, by its events."""

from typing import Any, Final

from botocore.exceptions import ClientError

from fleet.reserved.observed import Place, Stack
from lambdas.capacity_watch.clients import CloudFormationClient

_STACK: Final = "AWS::CloudFormation::Stack"
_RESERVATION: Final = "AWS::EC2::CapacityReservation"


class ReservationStacks:
    """The newest page of events, a hundred: a stack of one resource needs ten for an operation."""

    def __init__(self, cloudformation: CloudFormationClient) -> None:
        self._cloudformation = cloudformation

    def of(self, place: Place) -> Stack:
        """What became of the stack that makes the fleet's reservation."""
        try:
            answer = self._cloudformation.describe_stack_events(StackName=place.reservation_stack)
        except ClientError as error:
            # CloudFormation has no code of its own for it: ValidationError, "Stack [...] does not exist".
            if "does not exist" not in error.response.get("Error", {}).get("Message", ""):
                raise
            return Stack(exists=False)
        events: list[dict[str, Any]] = answer["StackEvents"]
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


def _failure(events: list[dict[str, Any]]) -> str:
    # A rollback's own events of the reservation come after the failure, and say that it went well.
    for event in events:
        if event.get("ResourceType") == _RESERVATION and event["ResourceStatus"].endswith("_FAILED"):
            return str(event.get("ResourceStatusReason", ""))
    return ""
