"""A role's rights: statements, the wildcards in them that cdk-nag is told the reason of, and pulling one image."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam

_ECR_IMAGE: Final = re.compile(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com/([^:@]+)")


def allow_pull(role: iam.Role, image: str) -> None:
    """Let ``role`` pull ``image`` where it lies in Amazon ECR; elsewhere there is nothing to allow."""
    ecr = _ECR_IMAGE.match(image)
    if ecr is None:
        return
    account, region, repository = ecr.groups()
    arn = Stack.of(role).format_arn(
        service="ecr", account=account, region=region, resource="repository", resource_name=repository
    )
    actions = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    role.add_to_policy(iam.PolicyStatement(actions=actions, resources=[arn]))
    role.add_to_policy(iam.PolicyStatement(actions=["ecr:GetAuthorizationToken"], resources=["*"]))
    Validations.of(role).acknowledge(
        Acknowledgment(
            id="AwsSolutions-IAM5[Resource::*]",
            reason="a registry token has no resource; what may be pulled with it is one repository",
        )
    )


def allow(role: iam.Role, *actions: str, on: Sequence[str], when: Mapping[str, object] | None = None) -> None:
    """Let ``role`` take ``actions`` on these ARNs; ``when`` are IAM conditions."""
    role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=list(on), conditions=when))


def acknowledge(role: iam.Role, resource: str, reason: str) -> None:
    """Say why the wildcard in ``resource`` is meant."""
    Validations.of(role).acknowledge(Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=reason))
