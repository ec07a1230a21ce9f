"""What a training fleet's jobs may read and write in S3: the places that its entry names, and no others."""

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk.region_info import RegionInfo

from environments.fleets import TrainingFleet

_READ = ("s3:GetObject",)
# docs/checkpoints.md: what was saved is deleted by its retention, and uploads that were cut off are given up.
_WRITE = ("s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject")


def allow_data(role: iam.Role, fleet: TrainingFleet) -> None:
    """Give ``role`` the rights to the objects of each place, and to list them."""
    allow_reading(role, fleet)
    for place in fleet.writes:
        bucket = _allow(role, place, _WRITE)
        # It knows no prefix as a condition (Service Authorization Reference, Amazon S3).
        role.add_to_policy(iam.PolicyStatement(actions=["s3:ListBucketMultipartUploads"], resources=[bucket]))


def allow_reading(role: iam.Role, fleet: TrainingFleet) -> None:
    """Only those to what jobs read, and nothing that they write."""
    for place in fleet.reads:
        _allow(role, place, _READ)


def _allow(role: iam.Role, place: str, of_objects: tuple[str, ...]) -> str:
    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    below = f"{prefix.strip('/')}/*" if prefix.strip("/") else "*"
    arn = f"arn:{RegionInfo.get(Stack.of(role).region).partition}:s3:::{bucket}"
    role.add_to_policy(iam.PolicyStatement(actions=list(of_objects), resources=[f"{arn}/{below}"]))
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["s3:ListBucket"], resources=[arn], conditions={"StringLike": {"s3:prefix": [below]}}
        )
    )
    Validations.of(role).acknowledge(
        Acknowledgment(
            id=f"AwsSolutions-IAM5[Resource::{arn}/{below}]",
            reason="the objects of one place that the environment's file names",
        )
    )
    return arn
