"""What was paid for: the events of nodes and reservations in S3, rolled up every hour, as tables in Athena."""

from typing import Final

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.model import Environment
from fleet import naming
from fleet.alarms.functions import COST_REPORT
from fleet.ledger.columns import EVENTS, LEDGER, MINUTES, RECONCILIATION, RESERVED, STATE
from stacks.constructs.duckdb_layer import duckdb_layer
from stacks.constructs.event_stream import ERRORS, EventStream, acknowledge_objects
from stacks.constructs.ledger_tables import RESULTS, LedgerTables
from stacks.constructs.python_function import PythonFunction, dead_letter_queue

ROLL_UP: Final = "lambdas.cost_report.handler.lambda_handler"
# Days. Events are looked at for 14, minutes are what a day is rolled up from again when something of it arrives late;
# the ledger itself stays.
_KEPT: Final = {EVENTS: 35, MINUTES: 100, RESERVED: 100, ERRORS: 100, RESULTS: 7}
_WRITES: Final = (f"{MINUTES}*", f"{RESERVED}*", f"{LEDGER}/*", f"{RECONCILIATION}/*", STATE)


class LedgerStack(Stack):
    """Attributes: ``bucket``, ``stream`` (what brings events there), ``roll_up``, ``unhandled`` (runs that failed)."""

    def __init__(self, scope: Construct, construct_id: str, *, environment: Environment) -> None:
        """Keep the accounts of ``environment``, whose log groups are there."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        self.bucket = self._bucket()
        self.stream = EventStream(
            self,
            "Events",
            bucket=self.bucket,
            prefix=EVENTS,
            sources={
                naming.node_log_group(environment.name): "{ $.seq = * }",
                # What the watch says of itself is in the same group.
                naming.capacity_log_group(environment.name): '{ $.kind = "capacity" }',
            },
        )
        LedgerTables(self, "Tables", environment=environment.name, bucket=self.bucket)
        self.unhandled = dead_letter_queue(
            self, "Unhandled", queue_name=naming.dead_letter_queue(environment.name, COST_REPORT)
        )
        self.roll_up = self._function(environment)
        events.Rule(
            self,
            "Clock",
            # Five past: Firehose has written what it holds of the hour's first three quarters.
            schedule=events.Schedule.cron(minute="5"),
            targets=[targets.LambdaFunction(self.roll_up.function)],
        )
        ssm.StringParameter(
            self,
            "BucketName",
            parameter_name=naming.ledger_bucket_parameter(environment.name),
            string_value=self.bucket.bucket_name,
        )

    def _bucket(self) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            # What was paid for is asked about after the environment is gone.
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            lifecycle_rules=[
                s3.LifecycleRule(prefix=prefix, expiration=Duration.days(days)) for prefix, days in _KEPT.items()
            ],
        )
        bucket.add_lifecycle_rule(abort_incomplete_multipart_upload_after=Duration.days(1))
        Validations.of(bucket).acknowledge(
            Acknowledgment(
                id="AwsSolutions-S1",
                reason="figures that every engineer of the environment may read; who must know the reads of this "
                "bucket switches on CloudTrail data events, which also name the person",
            )
        )
        return bucket

    def _function(self, environment: Environment) -> PythonFunction:
        roll_up = PythonFunction(
            self,
            "RollUp",
            handler=ROLL_UP,
            timeout=Duration.minutes(15),
            dead_letters=self.unhandled,
            # 1.7 CPUs, and the most that every account may have; the roll-up itself holds below 1 GB.
            memory_mb=3008,
            disk_mb=4096,
            layers=duckdb_layer(self),
            environment={
                "ENVIRONMENT": environment.name,
                "BUCKET": self.bucket.bucket_name,
                # What a pool launches in place of its own type is on the bill as well.
                "INSTANCE_TYPES": self.to_json_string(
                    sorted({name for of in environment.fleets for name in (of.instance_type, *of.alternative_types)})
                ),
                "LOG_LEVEL": "INFO",
            },
        )
        self._allow(roll_up.role)
        return roll_up

    def _allow(self, role: iam.Role) -> None:
        read = self.bucket.arn_for_objects("*")
        write = [self.bucket.arn_for_objects(each) for each in _WRITES]
        role.add_to_policy(iam.PolicyStatement(actions=["s3:ListBucket"], resources=[self.bucket.bucket_arn]))
        role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=[read]))
        role.add_to_policy(iam.PolicyStatement(actions=["s3:PutObject"], resources=write))
        role.add_to_policy(iam.PolicyStatement(actions=["ce:GetCostAndUsage"], resources=["*"]))
        for each in ("*", *_WRITES[:-1]):
            acknowledge_objects(role, self.bucket, each, "one object for each day and hour, in the ledger's own bucket")
        Validations.of(role).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="GetCostAndUsage knows no resource but the account's bill",
            )
        )
