"""A role's rights, one statement for each kind, and the wildcards in them that cdk-nag is told the reason of."""

from collections.abc import Mapping, Sequence

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_iam as iam


def allow(role: iam.Role, *actions: str, on: Sequence[str], when: Mapping[str, object] | None = None) -> None:
    """Let ``role`` take ``actions`` on these ARNs; ``when`` are IAM conditions."""
    role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=list(on), conditions=when))


def acknowledge(role: iam.Role, resource: str, reason: str) -> None:
    """Say why the wildcard in ``resource`` is meant."""
    Validations.of(role).acknowledge(Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=reason))
