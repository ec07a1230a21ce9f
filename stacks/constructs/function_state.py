"""What a Lambda function leaves behind: items that it looks up by id, and events that it could not handle."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_sqs as sqs
from constructs import Construct


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
