"""Which of an environment's stacks CloudFormation is changing at the moment."""

from datetime import datetime, timedelta
from typing import Final

from fleet import naming
from lambdas.capacity_watch.clients import CloudFormationClient

# REVIEW_IN_PROGRESS is not among them: such a stack waits for a person, for years if need be.
CHANGING: Final = (
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

    def __init__(self, cloudformation: CloudFormationClient) -> None:
        self._cloudformation = cloudformation

    def of(self, environment: str, now: datetime) -> tuple[str, ...]:
        """Names of the environment's stacks that have been changing for less than two hours.

        Those of reservations are left out: waiting for capacity they change for most of an hour, and no node with them.
        """
        ours, waiting = naming.stack_name(environment, ""), naming.stack_name(environment, naming.reservation_stack(""))
        request: dict[str, object] = {"StackStatusFilter": list(CHANGING)}
        found: list[str] = []
        while True:
            answer = self._cloudformation.list_stacks(**request)
            for stack in answer["StackSummaries"]:
                name, since = stack["StackName"], stack.get("LastUpdatedTime", stack["CreationTime"])
                if name.startswith(ours) and not name.startswith(waiting) and now - since < EXCUSED_FOR:
                    found.append(name)
            if not answer.get("NextToken"):
                return tuple(found)
            request["NextToken"] = answer["NextToken"]
