"""Who compiles models before they are needed: the state machine, the function that decides, a job for each fleet.

It starts when somebody asks (``fleet cache warm``), and when an object ``models/<fleet>/<model>/<version>.json`` is
put into the artifact bucket.
"""

from collections.abc import Sequence
from typing import Final

from aws_cdk import (
    Acknowledgment,
    ArnFormat,
    CrossStackReferences,
    Duration,
    ReferenceStrength,
    RemovalPolicy,
    Stack,
    Validations,
)
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet import naming
from fleet.alarms.functions import PRECOMPILE
from fleet.compile_cache import artifact
from fleet.compile_cache.request import MODELS
from fleet.jobs.submission import OWNER_TAG
from stacks.capacity import CapacityStack
from stacks.compile_cache import CompileCacheStack
from stacks.constructs.precompile_job import PrecompileJob
from stacks.constructs.precompile_machine import PrecompileMachine
from stacks.constructs.python_function import PythonFunction, dead_letter_queue, table_by_id
from stacks.constructs.retention import retention_of
from stacks.training import TrainingStack

HANDLER: Final = "lambdas.compile_cache.handler.lambda_handler"


class PrecompileStack(Stack):
    """Attributes: ``jobs`` and ``places`` (by training fleet), ``runs`` (table), ``unhandled`` (queue), ``pipeline``.

    ``unhandled`` gets the objects for which no execution could be started; an execution that fails says why itself.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        capacity: CapacityStack,
        compile_cache: CompileCacheStack,
        training: TrainingStack,
    ) -> None:
        """Build the pipeline of ``environment``."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        # An exported value cannot go away while it is in use: a fleet could never be taken out of the file.
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        self._environment, self._compile_cache, self._training = environment, compile_cache, training
        kept = retention_of(environment)
        log_group = logs.LogGroup(self, "Logs", retention=kept.log_days, removal_policy=kept.removal_policy)
        self.jobs = {
            fleet.name: PrecompileJob(
                Construct(self, fleet.name),
                "Job",
                fleet=fleet,
                plan=capacity.fleets[fleet.name].plan,
                compile_cache=compile_cache,
                log_group=training.log_group,
            )
            for fleet in environment.batch_fleets
        }
        self.places = {fleet.name: self._place(fleet) for fleet in environment.batch_fleets}
        self.unhandled = dead_letter_queue(
            self, "Unhandled", queue_name=naming.dead_letter_queue(environment.name, PRECOMPILE)
        )
        # Only who compiles what now: an execution that is forgotten costs a second compilation.
        self.runs = table_by_id(self, "Runs", RemovalPolicy.DESTROY)
        self.pipeline = PrecompileMachine(
            self,
            "Pipeline",
            name=naming.precompile_state_machine(environment.name),
            function=self._function().function,
            queues=[self._queue(fleet) for fleet in environment.batch_fleets],
            definitions=[job.definition.job_definition_arn for job in self.jobs.values()],
            log_group=log_group,
        )
        self._start_on_new_models()

    def _queue(self, fleet: TrainingFleet) -> str:
        return self._training.fleets[fleet.name].queue.attr_job_queue_arn

    def _place(self, fleet: TrainingFleet) -> ssm.StringParameter:
        place = {
            "queue": self._queue(fleet),
            "definition": self.jobs[fleet.name].definition.job_definition_arn,
            "share": naming.share_identifier(fleet.owner),
            # As `fleet jobs submit` gives them: by these a job is found, and its node's costs are somebody's.
            "tags": {
                "project": naming.PROJECT,
                "environment": self._environment.name,
                "fleet": fleet.name,
                OWNER_TAG: fleet.owner,
            },
        }
        return ssm.StringParameter(
            self,
            f"{fleet.name}-place",
            description=f"Where graphs for {fleet.name} are compiled",
            parameter_name=naming.precompile_place_parameter(self._environment.name, fleet.name),
            string_value=self.to_json_string(place),
        )

    def _function(self) -> PythonFunction:
        name = self._environment.name
        function = PythonFunction(
            self,
            "Decide",
            handler=HANDLER,
            # A few calls of 15 s at the most, and the listing of a thousand graphs.
            timeout=Duration.minutes(2),
            dead_letters=self.unhandled,
            environment={
                "ENVIRONMENT": name,
                "RUNS_TABLE": self.runs.table_name,
                "BUCKET": self._compile_cache.bucket_name,
                "FLEETS": self.to_json_string(list(self.places)),
                "LOG_LEVEL": "INFO",
            },
        )
        self.runs.grant(function.role, "dynamodb:GetItem", "dynamodb:PutItem")
        allow_deciding(
            function.role,
            bucket=self._compile_cache.bucket_arn,
            parameters=[place.parameter_arn for place in self.places.values()],
            machine=naming.precompile_state_machine(name),
        )
        return function

    def _start_on_new_models(self) -> None:
        put = events.EventPattern(
            source=["aws.s3"],
            detail_type=["Object Created"],
            detail={
                "bucket": {"name": [self._compile_cache.bucket_name]},
                "object": {"key": [{"prefix": f"{MODELS}/"}]},
            },
        )
        target = targets.SfnStateMachine(
            self.pipeline.machine,
            input=events.RuleTargetInput.from_object({"object": events.EventField.from_path("$.detail.object.key")}),
            dead_letter_queue=self.unhandled,
        )
        events.Rule(self, "NewModel", event_pattern=put, targets=[target])


_OBJECTS: Final = "objects get their names from models, which are somebody else's to name"
_EXECUTIONS: Final = "executions of one state machine get their ids when they start"


def allow_deciding(role: iam.Role, *, bucket: str, parameters: Sequence[str], machine: str) -> None:
    """Give ``role`` what it needs; ``bucket`` and ``parameters`` are ARNs, ``machine`` is a name."""
    objects = [f"{bucket}/{below}/*" for below in (artifact.ROOT, MODELS)]
    executions = Stack.of(role).format_arn(
        service="states",
        resource="execution",
        resource_name=f"{machine}:*",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    _allow(role, "s3:GetObject", on=objects)
    # Not for some prefix only: it is also what S3 looks for to say that an object is not there, 404 and not 403, and
    # such a request has no prefix.
    _allow(role, "s3:ListBucket", on=[bucket])
    _allow(role, "states:DescribeExecution", on=[executions])
    if parameters:
        _allow(role, "ssm:GetParameter", on=parameters)
    for arn, reason in (*((each, _OBJECTS) for each in objects), (executions, _EXECUTIONS)):
        Validations.of(role).acknowledge(Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{arn}]", reason=reason))


def _allow(role: iam.Role, action: str, *, on: Sequence[str]) -> None:
    role.add_to_policy(iam.PolicyStatement(actions=[action], resources=list(on)))
