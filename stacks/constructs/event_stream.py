"""From log groups to S3: a subscription each, and one Firehose stream that writes what they hand over, by the hour.

Firehose joins the subscriptions' gzip batches as they are. It could unpack them and write Parquet, and would charge for
either by the byte; whoever reads them can do both. Prefixes: "Custom prefixes for Amazon S3 objects" in the Firehose
Developer Guide.
"""

from collections.abc import Mapping
from typing import Final

from aws_cdk import Acknowledgment, RemovalPolicy, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kinesisfirehose as firehose
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

ERRORS: Final = "errors/"
# The longest and, for a batch that lies compressed, large enough that the time decides: few objects, at most 15 minutes
# late.
_SECONDS: Final = 900
_MEBIBYTES: Final = 32


class EventStream(Construct):
    """Attributes: ``stream``, ``delivery_role`` (what Firehose may do), ``sending_role`` (what CloudWatch Logs may)."""

    def __init__(
        self, scope: Construct, construct_id: str, *, bucket: s3.IBucket, prefix: str, sources: Mapping[str, str]
    ) -> None:
        """Subscribe to ``sources``, filter patterns by the name of their log group."""
        super().__init__(scope, construct_id)
        self._failures = logs.LogGroup(
            self, "Failures", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        self._failed = logs.LogStream(self, "Delivery", log_group=self._failures, removal_policy=RemovalPolicy.DESTROY)
        self.delivery_role = self._delivery_role(bucket, prefix.partition("/")[0] + "/")
        self.stream = self._stream(bucket, prefix)
        self.sending_role = self._sending_role()
        for group, pattern in sources.items():
            subscription = logs.CfnSubscriptionFilter(
                self,
                f"From{group.rpartition('/')[2].capitalize()}",
                log_group_name=group,
                filter_pattern=pattern,
                destination_arn=self.stream.attr_arn,
                role_arn=self.sending_role.role_arn,
            )
            # CloudWatch Logs sends a test record before it accepts the subscription.
            subscription.node.add_dependency(self.sending_role)

    def _stream(self, bucket: s3.IBucket, prefix: str) -> firehose.CfnDeliveryStream:
        kind = firehose.CfnDeliveryStream
        stream = kind(
            self,
            "Stream",
            delivery_stream_type="DirectPut",
            delivery_stream_encryption_configuration_input=kind.DeliveryStreamEncryptionConfigurationInputProperty(
                key_type="AWS_OWNED_CMK"
            ),
            extended_s3_destination_configuration=kind.ExtendedS3DestinationConfigurationProperty(
                bucket_arn=bucket.bucket_arn,
                role_arn=self.delivery_role.role_arn,
                prefix=f"{prefix}!{{timestamp:yyyy-MM-dd-HH}}/",
                error_output_prefix=f"{ERRORS}!{{firehose:error-output-type}}/",
                file_extension=".gz",
                compression_format="UNCOMPRESSED",
                buffering_hints=kind.BufferingHintsProperty(interval_in_seconds=_SECONDS, size_in_m_bs=_MEBIBYTES),
                cloud_watch_logging_options=kind.CloudWatchLoggingOptionsProperty(
                    enabled=True,
                    log_group_name=self._failures.log_group_name,
                    log_stream_name=self._failed.log_stream_name,
                ),
            ),
        )
        # It tries its role when it is made.
        stream.node.add_dependency(self.delivery_role)
        return stream

    def _delivery_role(self, bucket: s3.IBucket, folder: str) -> iam.Role:
        account = Stack.of(self).account
        trusted = iam.ServicePrincipal(
            "firehose.amazonaws.com", conditions={"StringEquals": {"sts:ExternalId": account}}
        )
        role = iam.Role(self, "DeliveryRole", assumed_by=trusted)
        objects = [bucket.arn_for_objects(f"{folder}*"), bucket.arn_for_objects(f"{ERRORS}*")]
        role.add_to_policy(iam.PolicyStatement(actions=["s3:AbortMultipartUpload", "s3:PutObject"], resources=objects))
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"],
                resources=[bucket.bucket_arn],
            )
        )
        self._failures.grant(role, "logs:PutLogEvents")
        for each in (f"{folder}*", f"{ERRORS}*"):
            acknowledge_objects(role, bucket, each, "objects are named by the hour in which they are written")
        return role

    def _sending_role(self) -> iam.Role:
        stack = Stack.of(self)
        groups = stack.format_arn(service="logs", resource="*")
        trusted = iam.ServicePrincipal("logs.amazonaws.com", conditions={"StringLike": {"aws:SourceArn": groups}})
        role = iam.Role(self, "SendingRole", assumed_by=trusted)
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["firehose:PutRecord", "firehose:PutRecordBatch"], resources=[self.stream.attr_arn]
            )
        )
        return role


def acknowledge_objects(role: iam.Role, bucket: s3.IBucket, objects: str, reason: str) -> None:
    """Say why a role may touch every one of ``objects``."""
    resource = bucket.node.default_child
    if not isinstance(resource, s3.CfnBucket):
        raise TypeError(f"{bucket.node.path} has no bucket resource")
    logical_id = Stack.of(bucket).get_logical_id(resource)
    Validations.of(role).acknowledge(
        Acknowledgment(id=f"AwsSolutions-IAM5[Resource::<{logical_id}.Arn>/{objects}]", reason=reason)
    )
