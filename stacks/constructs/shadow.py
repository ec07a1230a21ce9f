"""Recorded requests of endpoints that ask for them: the bucket, what tasks may do there, and what they are told.

The names of the variables are those of ``workload/serving/shadow/settings.py``; a contract test reads them back.
"""

from collections.abc import Iterable
from typing import Final

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.region_info import RegionInfo
from constructs import Construct

from environments.fleets import InferenceFleet
from fleet import naming
from fleet.shadow import places

_REPORT_DAYS: Final = 90
_NAMES: Final = "objects have a time and a task in their names; those of one fleet are written and read"


def bucket_name(stack: Stack, environment: str) -> str:
    """Known before it is there: roles of two stacks are limited to parts of it."""
    return naming.shadow_bucket(environment, stack.account, stack.region)


def bucket_arn(stack: Stack, environment: str) -> str:
    """Of the same."""
    return f"arn:{RegionInfo.get(stack.region).partition}:s3:::{bucket_name(stack, environment)}"


def shadow_bucket(
    scope: Construct,
    construct_id: str,
    *,
    environment: str,
    fleets: Iterable[InferenceFleet],
    removal_policy: RemovalPolicy,
) -> s3.Bucket:
    """A bucket in which requests end after the days that the file says: people's prompts are in them.

    Without versions, which would keep what has ended. It is there for every environment with an endpoint, though it
    stays empty without a shadow: a bucket with a name that came and went with that setting would be in its own way
    where ``retain_data`` keeps it.
    """
    rules = [s3.LifecycleRule(id="CutOff", enabled=True, abort_incomplete_multipart_upload_after=Duration.days(1))]
    for fleet in fleets:
        shadow = fleet.endpoint.rollout.shadow
        if shadow is not None:
            ends = {places.samples(fleet.name): shadow.keep_days, places.reports(fleet.name): _REPORT_DAYS}
            rules += [
                s3.LifecycleRule(enabled=True, prefix=prefix, expiration=Duration.days(days))
                for prefix, days in ends.items()
            ]
    bucket = s3.Bucket(
        scope,
        construct_id,
        bucket_name=bucket_name(Stack.of(scope), environment),
        encryption=s3.BucketEncryption.S3_MANAGED,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        lifecycle_rules=rules,
        removal_policy=removal_policy,
    )
    Validations.of(bucket).acknowledge(
        Acknowledgment(
            id="AwsSolutions-S1",
            reason="the endpoints' tasks write here once a minute, and what they write ends after days",
        )
    )
    return bucket


def shadow_environment(stack: Stack, environment: str, fleet: InferenceFleet) -> dict[str, str]:
    """The variables of one task; none where the endpoint does not ask for it."""
    shadow = fleet.endpoint.rollout.shadow
    if shadow is None:
        return {}
    return {
        "NEURON_FLEET_SHADOW_BUCKET": bucket_name(stack, environment),
        "NEURON_FLEET_SHADOW_FLEET": fleet.name,
        # The same task definition serves on both sides; in this cluster a task is a candidate.
        "NEURON_FLEET_SHADOW_CANDIDATES": naming.candidate_cluster_name(environment, fleet.name),
        "NEURON_FLEET_SHADOW_PERCENT": str(shadow.sample_percent),
        "NEURON_FLEET_SHADOW_REQUESTS": str(shadow.min_requests),
        "NEURON_FLEET_SHADOW_COSINE": str(shadow.cosine),
    }


def allow_shadow(role: iam.IRole, environment: str, fleet: InferenceFleet) -> None:
    """Let tasks write and read samples of ``fleet``, and write reports; both sides are one task definition and role."""
    if fleet.endpoint.rollout.shadow is None:
        return
    bucket = bucket_arn(Stack.of(role), environment)
    samples, reports = (f"{bucket}/{prefix}*" for prefix in (places.samples(fleet.name), places.reports(fleet.name)))
    listed = {"StringEquals": {"s3:prefix": places.samples(fleet.name)}}
    for statement in (
        iam.PolicyStatement(actions=["s3:PutObject"], resources=[samples, reports]),
        iam.PolicyStatement(actions=["s3:GetObject"], resources=[samples]),
        iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket], conditions=listed),
    ):
        role.add_to_principal_policy(statement)
    _acknowledge(role, samples, reports)


def allow_reports(role: iam.IRole, environment: str, fleets: Iterable[InferenceFleet]) -> None:
    """Let ``role`` read the reports of ``fleets``, and no request."""
    named = [places.reports(fleet.name) for fleet in fleets if fleet.endpoint.rollout.shadow is not None]
    if not named:
        return
    bucket = bucket_arn(Stack.of(role), environment)
    objects = [f"{bucket}/{prefix}*" for prefix in named]
    listed = {"StringLike": {"s3:prefix": [f"{prefix}*" for prefix in named]}}
    role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=objects))
    role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket], conditions=listed))
    _acknowledge(role, *objects)


def _acknowledge(role: iam.IRole, *resources: str) -> None:
    for resource in resources:
        Validations.of(role).acknowledge(Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=_NAMES))
