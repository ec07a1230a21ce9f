"""Which resources hold something that a deployment cannot make again, and what would be lost with each."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fleet import naming
from tests.support.upgrade.intrinsics import Templates

DATA: Final[Mapping[str, str]] = {
    "AWS::S3::Bucket": "the compile cache's artifacts, the ledger, recorded requests, access logs",
    "AWS::DynamoDB::Table": "leases, prices, pages, requests, records of rollouts, jobs of pools",
    "AWS::EFS::FileSystem": "the compile cache's shared tier",
    "AWS::EFS::AccessPoint": "the paths that jobs know it by",
    "AWS::Logs::LogGroup": "node events, job output, what functions said",
    "AWS::Logs::LogStream": "what a log group holds is in it",
    "AWS::Logs::SubscriptionFilter": "minutes of the ledger while it is not there",
    "AWS::KinesisFirehose::DeliveryStream": "up to 15 minutes of events that it holds",
    "AWS::SQS::Queue": "what waits in it: pages, and what could not be handled",
    "AWS::SNS::Topic": "its subscriptions, those that people made among them",
    "AWS::SNS::Subscription": "notifications while it is not there; a person confirms an e-mail address again",
    "AWS::SecretsManager::Secret": "a secret that somebody wrote",
    "AWS::KMS::Key": "whatever it encrypts",
    "AWS::ECR::Repository": "images",
    "AWS::Glue::Database": "the tables of queries",
    "AWS::Glue::Table": "the tables of queries",
    "AWS::Athena::WorkGroup": "queries and their history",
    "AWS::SSM::Parameter": "the version that a rollout serves",
    "AWS::CloudWatch::Alarm": "its state, and who would be told",
    "AWS::CloudWatch::CompositeAlarm": "its state, and who would be told",
    "AWS::EC2::CapacityReservation": "capacity that may not be there again",
}


def rewritten(environment: str, old: Templates, new: Templates) -> Iterator[str]:
    """What a rollout has set since the deployment and an update would set back: weights, and versions that serve."""
    served = naming.served_version_parameter(environment, "")
    for stack, template in old.items():
        for logical_id, body in template["Resources"].items():
            after = new.get(stack, {}).get("Resources", {}).get(logical_id, body)
            before, properties = body.get("Properties", {}), after.get("Properties", {})
            if body["Type"] == "AWS::ElasticLoadBalancingV2::ListenerRule" and before != properties:
                yield f"{stack}/{logical_id}: a change of the rule sets the weights of its sides back"
            if str(before.get("Name", "")).startswith(served) and _value(before) != _value(properties):
                yield f"{stack}/{logical_id}: a change of {before['Name']} sets back which version serves"


def _value(properties: Mapping[str, Any]) -> Any:
    return properties.get("Value")
