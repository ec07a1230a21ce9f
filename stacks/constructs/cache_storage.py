"""The compile cache's bucket, with whole models' graphs and requests for models to compile, and its table of leases.

``neuron-artifacts/`` holds what ``workload/compile_cache/tiers/cold.py`` writes, and ``models/`` one object for
each model version, which starts its precompilation.
"""

from typing import cast

from aws_cdk import Acknowledgment, CrossStackReferences, Duration, ReferenceStrength, RemovalPolicy, Validations
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from constructs import Construct

from fleet.compile_cache import artifact


def artifact_bucket(
    scope: Construct, construct_id: str, *, bucket_name: str, removal_policy: RemovalPolicy
) -> s3.Bucket:
    """A bucket that nobody outside sees, whose events go to EventBridge.

    It has a name, of ``naming.artifact_bucket``, so that the rights to parts of it can be read in a role's policy.
    Without versions: what would need other graphs has another folder, so nothing there is written over with something
    else, and all of it can be compiled again. Without an end: graphs are older than the index that names them, and
    an index without its graphs would promise what is gone.
    """
    bucket = s3.Bucket(
        scope,
        construct_id,
        bucket_name=bucket_name,
        encryption=s3.BucketEncryption.S3_MANAGED,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        lifecycle_rules=[
            s3.LifecycleRule(id="CutOff", enabled=True, abort_incomplete_multipart_upload_after=Duration.days(7)),
            s3.LifecycleRule(
                id="Seldom",
                enabled=True,
                prefix=f"{artifact.ROOT}/",
                # Read at once when an old model comes back, at about half the price until then.
                transitions=[
                    s3.Transition(storage_class=s3.StorageClass.INFREQUENT_ACCESS, transition_after=Duration.days(90))
                ],
            ),
        ],
        removal_policy=removal_policy,
    )
    # Past the L2, which brings a function of its own to set what is a property by now.
    resource = cast(s3.CfnBucket, bucket.node.default_child)
    resource.add_property_override("NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled", value=True)
    Validations.of(bucket).acknowledge(
        Acknowledgment(
            id="AwsSolutions-S1",
            reason="one role writes here, and each of its jobs is in an execution's history; what is read are "
            "compiled graphs",
        )
    )
    return bucket


def lease_table(scope: Construct, construct_id: str, removal_policy: RemovalPolicy) -> dynamodb.Table:
    """A table with the key ``id``, whose items never end: a fencing token that begins again at 1 fences nothing.

    It has no name of its own: one that is kept when its stack is deleted would be in the way of the next.
    """
    table = dynamodb.Table(
        scope,
        construct_id,
        partition_key=dynamodb.Attribute(name="id", type=dynamodb.AttributeType.STRING),
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        encryption=dynamodb.TableEncryption.AWS_MANAGED,
        removal_policy=removal_policy,
    )
    # As an export it would end with the last fleet that compiles, which could then not leave.
    CrossStackReferences.of(table).produce(ReferenceStrength.WEAK)
    Validations.of(table).acknowledge(
        Acknowledgment(
            id="AwsSolutions-DDB3",
            reason="a table of the past would give out fencing tokens a second time; one that is lost costs "
            "compilations that somebody is at work on already",
        )
    )
    return table
