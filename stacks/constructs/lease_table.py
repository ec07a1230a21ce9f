"""Who compiles which graph: one item for each, as ``workload/compile_cache/adapters.py`` writes it."""

from aws_cdk import Acknowledgment, CrossStackReferences, ReferenceStrength, RemovalPolicy, Validations
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct


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
