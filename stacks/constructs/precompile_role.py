"""What the function that decides on precompilations may do: read requests, artifacts and places, and ask who runs."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import Acknowledgment, ArnFormat, Stack, Validations
from aws_cdk import aws_iam as iam

from fleet.compile_cache import artifact
from fleet.compile_cache.request import MODELS

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
