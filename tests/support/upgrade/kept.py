"""What a deployed platform holds: written before an update, and looked at again after it."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from fleet import naming
from local.deployment import deployed_stacks
from tests.support.embedded_client import client
from tests.support.upgrade.data import DATA

WORDS: Final = "written before the update"
READER: Final = "on-call@example.com"
_KEY: Final = "kept/object"
_TYPES: Final = {"S": WORDS, "N": "7", "B": WORDS.encode()}


@dataclass(frozen=True, order=True)
class Held:
    """One resource of a deployed stack."""

    stack: str
    logical_id: str
    kind: str
    physical_id: str


def held(environment: str) -> dict[tuple[str, str], Held]:
    """Everything that is deployed, by stack and logical id."""
    cloudformation = client("cloudformation")
    found = [
        Held(stack.name, each["LogicalResourceId"], each["ResourceType"], each["PhysicalResourceId"])
        for stack in deployed_stacks(naming.stack_name(environment, ""))
        for each in cloudformation.describe_stack_resources(StackName=stack.name)["StackResources"]
    ]
    return {(each.stack, each.logical_id): each for each in found}


def ids(found: dict[tuple[str, str], Held], kind: str) -> list[str]:
    """The physical ids of all resources of a type."""
    return [each.physical_id for each in found.values() if each.kind == kind]


def changes(environment: str, change_set: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What CloudFormation says that a change set would do, stack by stack; a stack without one stays as it is."""
    cloudformation = client("cloudformation")
    for stack in deployed_stacks(naming.stack_name(environment, "")):
        sets = cloudformation.list_change_sets(StackName=stack.name)["Summaries"]
        if any(each["ChangeSetName"] == change_set for each in sets):
            pages = cloudformation.get_paginator("describe_change_set")
            for page in pages.paginate(StackName=stack.name, ChangeSetName=change_set):
                yield from ((stack.name, each["ResourceChange"]) for each in page["Changes"])


def endangered(environment: str, change_set: str) -> list[str]:
    """What holds data and would be removed, or replaced, or may be."""
    every = list(changes(environment, change_set))
    stays = {(stack, each["LogicalResourceId"]) for stack, each in every if each.get("Replacement") == "False"}
    return [
        f"{stack}/{each['LogicalResourceId']}: {each['Action']}, Replacement {each.get('Replacement')}"
        for stack, each in every
        if each["ResourceType"] in DATA
        if each["Action"] == "Remove" or not _stays(each, {name for of, name in stays if of == stack})
    ]


def _stays(change: dict[str, Any], stays: set[str]) -> bool:
    """Also where a change set cannot tell, because of attributes of what is changed in its place: those stay."""
    if change.get("Replacement", "False") == "False":
        return True
    causes = [each for each in change["Details"] if each["Target"]["RequiresRecreation"] != "Never"]
    return change["Replacement"] == "Conditional" and all(
        each["Evaluation"] == "Dynamic"
        and each["ChangeSource"] == "ResourceAttribute"
        and each["CausingEntity"].partition(".")[0] in stays
        for each in causes
    )


def alarms(environment: str) -> dict[str, tuple[str, Any]]:
    """State of every alarm, and since when, by name."""
    pages = client("cloudwatch").get_paginator("describe_alarms")
    found = pages.paginate(AlarmNamePrefix=f"{environment}/", AlarmTypes=["MetricAlarm", "CompositeAlarm"])
    return {
        each["AlarmName"]: (each["StateValue"], each.get("StateTransitionedTimestamp", each["StateUpdatedTimestamp"]))
        for page in found
        for each in (*page["MetricAlarms"], *page["CompositeAlarms"])
    }


def write(found: dict[tuple[str, str], Held]) -> None:
    """An object in every bucket, an item in every table, a message in every queue of failures, a reader of every topic,
    an event in every log group.
    """
    s3, dynamodb, sqs, sns = (client(name) for name in ("s3", "dynamodb", "sqs", "sns"))
    for bucket in ids(found, "AWS::S3::Bucket"):
        s3.put_object(Bucket=bucket, Key=_KEY, Body=WORDS.encode())
    for table in ids(found, "AWS::DynamoDB::Table"):
        dynamodb.put_item(TableName=table, Item=_key(dynamodb, table) | {"said": {"S": WORDS}})
    for queue in _failures(found):
        sqs.send_message(QueueUrl=queue, MessageBody=WORDS)
    for topic in ids(found, "AWS::SNS::Topic"):
        sns.subscribe(TopicArn=topic, Protocol="email", Endpoint=READER)
    logs = client("logs")
    for group in ids(found, "AWS::Logs::LogGroup"):
        logs.create_log_stream(logGroupName=group, logStreamName="kept")
        event = {"timestamp": int(time.time() * 1000), "message": json.dumps({"said": WORDS})}
        logs.put_log_events(logGroupName=group, logStreamName="kept", logEvents=[event])


def lost(found: dict[tuple[str, str], Held]) -> list[str]:
    """What of it cannot be read any more."""
    s3, dynamodb, sqs, sns, logs = (client(name) for name in ("s3", "dynamodb", "sqs", "sns", "logs"))
    read = {
        bucket: s3.get_object(Bucket=bucket, Key=_KEY)["Body"].read().decode()
        for bucket in ids(found, "AWS::S3::Bucket")
    }
    for table in ids(found, "AWS::DynamoDB::Table"):
        item = dynamodb.get_item(TableName=table, Key=_key(dynamodb, table)).get("Item", {})
        read[table] = item.get("said", {}).get("S", "no item")
    for queue in _failures(found):
        messages = sqs.receive_message(QueueUrl=queue, VisibilityTimeout=0).get("Messages", [{"Body": "no message"}])
        read[queue] = messages[0]["Body"]
    for topic in ids(found, "AWS::SNS::Topic"):
        readers = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
        read[topic] = WORDS if any(each["Endpoint"] == READER for each in readers) else "its reader is gone"
    for group in ids(found, "AWS::Logs::LogGroup"):
        events = logs.get_log_events(logGroupName=group, logStreamName="kept")["events"]
        read[group] = json.loads(events[0]["message"])["said"] if events else "no event"
    return [f"{name}: {words}" for name, words in read.items() if words != WORDS]


def _failures(found: dict[tuple[str, str], Held]) -> list[str]:
    """Queues that nothing takes messages from by itself."""
    return [queue for queue in ids(found, "AWS::SQS::Queue") if queue.endswith("dead-letters")]


def _key(dynamodb: Any, table: str) -> dict[str, Any]:
    told = dynamodb.describe_table(TableName=table)["Table"]
    types = {each["AttributeName"]: each["AttributeType"] for each in told["AttributeDefinitions"]}
    return {
        each["AttributeName"]: {types[each["AttributeName"]]: _TYPES[types[each["AttributeName"]]]}
        for each in told["KeySchema"]
    }
