"""The state machine of a precompilation: is it there already, compile it on one node, verify what came of it.

::

    Begin ──ready──────────────────────────► Ready
      ▲ ├──compile──► Compile ──► Conclude ──┘ │
      │ └──wait──► Wait                        ▼
      └─────────────┘            (failed, refused) ──► Failed

Failed has the reason as its cause, in one line.
"""

from typing import Any, Final, cast

from aws_cdk import Acknowledgment, Aws, Duration, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from constructs import Construct

# A request may wait for a node, and for as long as a job may run. With what comes before and after, the machine's own
# end is later, so that a job that takes too long is a failure with a reason.
LONGEST_JOB: Final = Duration.hours(36)
LONGEST: Final = Duration.hours(72)
# Each look has nine events, and an execution 25,000: every minute, one of 72 hours would end before its time.
LOOK_AGAIN: Final = Duration.seconds(120)
ERROR: Final = "NotPrecompiled"


class PrecompileMachine(Construct):
    """Attributes: ``machine`` and ``role``, which may call ``function`` and submit ``definitions`` to ``queues``."""

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one fact of the machine
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        function: lambda_.IFunction,
        queues: list[str],
        definitions: list[str],
        log_group: logs.ILogGroup,
    ) -> None:
        """Build the machine ``name``; ``queues`` and ``definitions`` are ARNs."""
        super().__init__(scope, construct_id)
        self._function = function
        self._jobs = Stack.of(self).format_arn(service="batch", resource="job", resource_name="*")
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("states.amazonaws.com"))
        self._allow_jobs(queues, definitions)
        self.machine = sfn.StateMachine(
            self,
            "Machine",
            state_machine_name=name,
            definition_body=sfn.DefinitionBody.from_chainable(self._definition()),
            role=self.role,
            timeout=LONGEST,
            # Without what goes in and out: a command is somebody's, and the history has it for who may see it.
            logs=sfn.LogOptions(destination=log_group, level=sfn.LogLevel.ALL, include_execution_data=False),
        )
        self._acknowledge()

    def _definition(self) -> sfn.IChainable:
        ready = sfn.Succeed(self, "Ready")
        failed = sfn.Fail(self, "Failed", error=ERROR, cause_path="$.reason")
        begin = self._ask(
            "Begin",
            {
                "execution": sfn.JsonPath.string_at("$$.Execution.Id"),
                "request": sfn.JsonPath.object_at("$$.Execution.Input"),
                "before": sfn.JsonPath.object_at("$"),
            },
        )
        conclude = self._ask(
            "Conclude",
            {
                "execution": sfn.JsonPath.string_at("$$.Execution.Id"),
                "begun": sfn.JsonPath.object_at("$"),
            },
        )
        compile_ = sfn.CustomState(self, "Compile", state_json=_submit_and_wait())
        compile_.add_catch(conclude, errors=["States.ALL"], result_path="$.failure")
        wait = sfn.Wait(self, "Wait", time=sfn.WaitTime.duration(LOOK_AGAIN))
        wait.next(begin)
        compile_.next(conclude)
        conclude.next(
            sfn.Choice(self, "IsReady").when(_step_is("ready"), ready).otherwise(failed),
        )
        return begin.next(
            sfn.Choice(self, "WhatToDo")
            .when(_step_is("ready"), ready)
            .when(_step_is("compile"), compile_)
            .when(_step_is("wait"), wait)
            .otherwise(failed)
        )

    def _ask(self, name: str, payload: dict[str, Any]) -> tasks.LambdaInvoke:
        task = tasks.LambdaInvoke(
            self,
            name,
            lambda_function=self._function,
            payload=sfn.TaskInput.from_object({"action": name.lower(), **payload}),
            payload_response_only=True,
        )
        # Where Lambda itself fails, the L2 repeats the call. This is for what the function fails at: a call to AWS, or
        # two executions that wanted the same at the same moment.
        task.add_retry(errors=["States.ALL"], interval=Duration.seconds(3), max_attempts=4, backoff_rate=2)
        return task

    def _allow_jobs(self, queues: list[str], definitions: list[str]) -> None:
        rule = Stack.of(self).format_arn(
            service="events", resource="rule", resource_name="StepFunctionsGetEventsForBatchJobsRule"
        )
        if queues:
            self.role.add_to_policy(iam.PolicyStatement(actions=["batch:SubmitJob"], resources=[*definitions, *queues]))
        self.role.add_to_policy(iam.PolicyStatement(actions=["batch:TagResource"], resources=[self._jobs]))
        # Step Functions developer guide, "IAM policies for calling AWS Batch": what waiting for a job's end takes.
        self.role.add_to_policy(
            iam.PolicyStatement(actions=["batch:DescribeJobs", "batch:TerminateJob"], resources=["*"])
        )
        self.role.add_to_policy(
            iam.PolicyStatement(
                actions=["events:DescribeRule", "events:PutRule", "events:PutTargets"], resources=[rule]
            )
        )

    def _acknowledge(self) -> None:
        function = cast(lambda_.CfnFunction, self._function.node.default_child)
        Validations.of(self.role).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="jobs get their ids when they are submitted; log deliveries have no resource",
            ),
            Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::{self._jobs}]", reason="jobs get their ids when they are submitted"
            ),
            Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::<{Stack.of(self).get_logical_id(function)}.Arn>:*]",
                reason="the versions of one function, as the L2 grants them",
            ),
        )
        Validations.of(self.machine).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SF2",
                reason="two calls of one function and one job: the execution's history has the time of each",
            )
        )


def _submit_and_wait() -> dict[str, Any]:
    # The L2's task knows no share identifier, without which a queue with a scheduling policy refuses a job.
    return {
        "Type": "Task",
        "Resource": f"arn:{Aws.PARTITION}:states:::batch:submitJob.sync",
        "Parameters": {
            "JobName.$": "$.job.name",
            "JobQueue.$": "$.job.queue",
            "JobDefinition.$": "$.job.definition",
            "ShareIdentifier.$": "$.job.share",
            "Tags.$": "$.job.tags",
            "ContainerOverrides": {"Command.$": "$.job.command"},
        },
        # What it answers is a description of the job with its environment; what came of it lies in the bucket.
        "ResultSelector": {"JobId.$": "$.JobId"},
        "ResultPath": "$.submitted",
        "TimeoutSeconds": int(LONGEST_JOB.to_seconds()),
    }


def _step_is(step: str) -> sfn.Condition:
    return sfn.Condition.string_equals("$.step", step)
