"""Executions of the state machine: one for each rollout and fence."""

import json
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.rollout.record import Rollout

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


class StateMachine:
    """``arn`` is the state machine's."""

    def __init__(self, states: "SFNClient", arn: str) -> None:
        self._states, self._arn = states, arn

    def start(self, rollout: Rollout) -> None:
        """Drive ``rollout``; an execution for the same fence is started once."""
        event = {
            "fleet": rollout.fleet,
            "rollout_id": rollout.rollout_id,
            "fence": rollout.fence,
            "look_seconds": rollout.plan.look_seconds,
        }
        try:
            self._states.start_execution(
                stateMachineArn=self._arn,
                name=_name(rollout),
                input=json.dumps(event),
            )
        except ClientError as error:
            # By its name it runs, or has run: once is what was asked for.
            if error.response.get("Error", {}).get("Code") != "ExecutionAlreadyExists":
                raise

    def runs(self, rollout: Rollout) -> bool:
        """Whether the execution for its fence does; one that was started this very moment may not show yet."""
        arn = f"{self._arn.replace(':stateMachine:', ':execution:')}:{_name(rollout)}"
        try:
            return bool(self._states.describe_execution(executionArn=arn)["status"] == "RUNNING")
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "ExecutionDoesNotExist":
                raise
            return False


def _name(rollout: Rollout) -> str:
    return f"{rollout.fleet}-{rollout.rollout_id}-{rollout.fence}"[:80]
