"""A Lambda function: the only place where one is made, so that all have the same runtime, logs, role and code.

And what a function leaves behind: items that it looks up by id, and events that it could not handle.
"""

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from aws_cdk import Duration, RemovalPolicy, Size, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.agent_archive.archive import Code, zipped
from stacks.import_closure import files_of

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("fleet", "lambdas")

# Layer 36 is Powertools 3.31.1. The ARN and not the public parameter, because single releases were missing there
# (aws-powertools/powertools-lambda-python issue 7689) and a layer version never changes under us.
POWERTOOLS_LAYER: Final = "017000801446:layer:AWSLambdaPowertoolsPythonV3-python314-arm64:36"


class PythonFunction(Construct):
    """Attributes: ``function``, ``role`` (may write its log and nothing else until told), ``log_group``.

    ``handler`` is the dotted path from the repository's root, as in ``lambdas.pager.handler.lambda_handler``. What an
    invocation could not do, retries included, ends up in ``dead_letters``. A log group whose events are read by others
    has a ``log_group_name``. What computes instead of waiting has more ``memory_mb``, of which its share of a CPU goes
    (1,769 MB are one), ``disk_mb`` and ``layers``. ``files`` are texts beside the code, by their paths from the root.
    """

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one fact of a function
        self,
        scope: Construct,
        construct_id: str,
        *,
        handler: str,
        environment: Mapping[str, str],
        timeout: Duration,
        dead_letters: sqs.IQueue,
        log_group_name: str | None = None,
        memory_mb: int = 256,
        disk_mb: int | None = None,
        layers: Sequence[lambda_.ILayerVersion] = (),
        files: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Create the function with its log group and its role."""
        super().__init__(scope, construct_id)
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=log_group_name,
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        # Its own role, for the managed basic-execution policy may write to every log group of the account.
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.log_group.grant_write(self.role)
        layer = f"arn:{Stack.of(self).partition}:lambda:{Stack.of(self).region}:{POWERTOOLS_LAYER}"
        self.function = lambda_.Function(
            self,
            "Function",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            code=_asset(handler, files),
            handler=handler,
            layers=[lambda_.LayerVersion.from_layer_version_arn(self, "Powertools", layer), *layers],
            environment=dict(environment),
            timeout=timeout,
            memory_size=memory_mb,
            ephemeral_storage_size=Size.mebibytes(disk_mb) if disk_mb else None,
            role=self.role,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            dead_letter_queue=dead_letters,
        )


def code_of(handler: str, root: Path = ROOT) -> Code:
    """The modules that ``handler`` imports and the data they read: no new deployment when anything else changes."""
    return Code(files_of([handler.rpartition(".")[0]], PACKAGES, root))


# A process synthesizes the project as it finds it, and an asset's file must be there until the end.
@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="neuron-fleet-functions-")


@cache
def _packed(handler: str, files: tuple[tuple[str, str], ...]) -> tuple[Path, str]:
    code = Code({**code_of(handler).files, **{name: text.encode() for name, text in files}})
    path = Path(_folder().name) / f"{handler}-{code.digest[:16]}.zip"
    path.write_bytes(zipped(code.files))
    return path, code.digest


def _asset(handler: str, files: Mapping[str, str]) -> lambda_.AssetCode:
    path, digest = _packed(handler, tuple(sorted(files.items())))
    # By the files and not by the zip, whose bytes another zlib would make differently.
    return lambda_.Code.from_asset(str(path), asset_hash=digest)


def table_by_id(
    scope: Construct, construct_id: str, removal_policy: RemovalPolicy, *, table_name: str | None = None
) -> dynamodb.Table:
    """A table with the key ``id``, whose items end at their ``expiration`` (unix seconds), if they have one.

    It has a ``table_name`` where others than its own stack read it.
    """
    return dynamodb.Table(
        scope,
        construct_id,
        table_name=table_name,
        partition_key=dynamodb.Attribute(name="id", type=dynamodb.AttributeType.STRING),
        time_to_live_attribute="expiration",
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        encryption=dynamodb.TableEncryption.AWS_MANAGED,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        removal_policy=removal_policy,
    )


def dead_letter_queue(scope: Construct, construct_id: str, *, queue_name: str) -> sqs.Queue:
    """Two weeks, the longest that SQS keeps anything, for somebody to look.

    It has a name, of ``naming.dead_letter_queue``, because people go there and its alarm is in another stack.
    """
    return sqs.Queue(
        scope,
        construct_id,
        queue_name=queue_name,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(14),
    )
