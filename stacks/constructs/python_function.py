"""A Lambda function: the only place where one is made, so that all have the same runtime, logs, role and code."""

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from aws_cdk import Duration, RemovalPolicy, Size, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.agent_archive.archive import zipped
from stacks.imported_code import ROOT, imported_files

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
        with tempfile.TemporaryDirectory() as folder:
            code = _asset(handler, files, Path(folder))
            self.function = lambda_.Function(
                self,
                "Function",
                runtime=lambda_.Runtime.PYTHON_3_14,
                architecture=lambda_.Architecture.ARM_64,
                code=code,
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


def _asset(handler: str, files: Mapping[str, str], folder: Path) -> lambda_.AssetCode:
    """The handler's module and what it imports, so that an edit of anything else deploys nothing. No build step."""
    content = zipped({**_imported(handler), **{name: text.encode() for name, text in files.items()}})
    path = folder / "function.zip"
    path.write_bytes(content)
    return lambda_.Code.from_asset(str(path), asset_hash=hashlib.sha256(content).hexdigest())


def function_code(handler: str, root: Path = ROOT) -> bytes:
    """The zip of a function without files of its own, by the dotted path of its handler."""
    return zipped(_imported(handler, root))


@cache
def _imported(handler: str, root: Path = ROOT) -> Mapping[str, bytes]:
    module = handler.rpartition(".")[0]
    return {path.as_posix(): (root / path).read_bytes() for path in imported_files([module], root)}
