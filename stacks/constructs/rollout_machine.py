"""The state machine that drives a rollout: look, wait, look again, until the look says that it is over.

All that is decided is decided in the function, which stores it: an execution holds nothing that is lost with it.
"""

from typing import Any, Final

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

# A look may time out, be throttled or meet a command: after eight tries, some four minutes, somebody has to see to it.
_TRIES: Final = 7
# A year is the most that an execution may take; a rollout takes a day or two at the most.
_DAYS: Final = 7
LOOK_SECONDS: Final = 90


def definition(partition: str) -> dict[str, Any]:
    """In the Amazon States Language; ``${Rollout}`` is the function's ARN."""
    asked = {"fleet.$": "$.fleet", "rollout_id.$": "$.rollout_id", "fence.$": "$.fence"}
    return {
        "Comment": "One rollout of an endpoint. The output says what serves, and why.",
        "StartAt": "Look",
        "TimeoutSeconds": _DAYS * 24 * 3600,
        "States": {
            "Look": {
                "Type": "Task",
                "Resource": f"arn:{partition}:states:::lambda:invoke",
                "Parameters": {"FunctionName": "${Rollout}", "Payload": asked},
                "OutputPath": "$.Payload",
                # After the function's own time: two looks at once would not hurt, and would tell of each other.
                "TimeoutSeconds": LOOK_SECONDS + 10,
                "Retry": [
                    {
                        "ErrorEquals": ["States.ALL"],
                        "IntervalSeconds": 2,
                        "BackoffRate": 2,
                        "MaxDelaySeconds": 60,
                        "MaxAttempts": _TRIES,
                    }
                ],
                "Next": "IsOver",
            },
            "IsOver": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.is_over", "BooleanEquals": True, "Next": "Over"}],
                "Default": "Wait",
            },
            "Wait": {"Type": "Wait", "SecondsPath": "$.look_seconds", "Next": "Look"},
            "Over": {"Type": "Succeed"},
        },
    }


class RolloutMachine(Construct):
    """Attribute: ``machine``."""

    def __init__(self, scope: Construct, construct_id: str, *, name: str, function: lambda_.Function) -> None:
        """Let executions call ``function``."""
        super().__init__(scope, construct_id)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("states.amazonaws.com"))
        role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[function.function_arn]))
        # An L1, whose definition is an object: it can be validated as it is deployed.
        self.machine = sfn.CfnStateMachine(
            self,
            "Machine",
            state_machine_name=name,
            role_arn=role.role_arn,
            definition=definition(Stack.of(self).partition),
            definition_substitutions={"Rollout": function.function_arn},
        )
        self.machine.node.add_dependency(role)
        Validations.of(self.machine).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SF1",
                reason="an execution keeps its events for 90 days, and the function logs each look",
            ),
            Acknowledgment(id="AwsSolutions-SF2", reason="it has one state that does something"),
        )
