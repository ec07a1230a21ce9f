"""A test page on its way: what is published, and where the pager writes what became of it."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cli.account import Account, AwsError
from cli.jobs.submission_targets import NotDeployedError
from environments.model import Environment
from fleet import alarm_page, naming
from fleet.paging import report_key
from local.alarm_evaluation import State

_NO_PARAMETER: Final = ("ParameterNotFound",)
_NO_TOPIC: Final = ("NotFound", "NotFoundException")


@dataclass(frozen=True, slots=True)
class SentPage:
    """The table that the pager writes to, and the key that it writes under."""

    table: str
    key: str


def send(
    account: Account, environment: Environment, severity: str, state: State, before: State, at: datetime
) -> SentPage:
    """Publish a transition of the test alarm on the topic that alarms of ``severity`` speak to.

    Raises:
        NotDeployedError: there is no pager, or no topic.
        AwsError: AWS does not take it.
    """
    table = _table(account, environment)
    name = naming.alarm_name(environment.name, naming.PLATFORM, naming.PAGE_TEST)
    arn = f"arn:aws:cloudwatch:{environment.region}:{environment.account}:alarm:{name}"
    changed_at = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    message = {
        "AlarmName": name,
        "AlarmArn": arn,
        "AlarmDescription": alarm_page.page_test().description,
        "NewStateValue": state.value,
        "OldStateValue": before.value,
        "NewStateReason": "somebody ran `fleet page test`",
        "StateChangeTime": changed_at,
    }
    topic = f"arn:aws:sns:{environment.region}:{environment.account}:{naming.topic_name(environment.name, severity)}"
    sent = account.find(_NO_TOPIC, account.sns.publish, TopicArn=topic, Subject="TEST", Message=json.dumps(message))
    if sent is None:
        raise _not_deployed(environment, f"topic {topic}", "observability")
    return SentPage(table, report_key(arn, changed_at))


def results_of(account: Account, page: SentPage) -> dict[str, str] | None:
    """By destination "" for taken, else the reason; None as long as the pager has said nothing.

    Raises:
        AwsError: DynamoDB does not answer.
    """
    answer = account.dynamodb.get_item(TableName=page.table, Key={"id": {"S": page.key}}, ConsistentRead=True)
    if "Item" not in answer:
        return None
    return {name: str(told["S"]) for name, told in answer["Item"]["results"]["M"].items()}


def _table(account: Account, environment: Environment) -> str:
    name = naming.pager_place_parameter(environment.name)
    answer = account.find(_NO_PARAMETER, account.ssm.get_parameter, Name=name)
    if answer is None:
        raise _not_deployed(environment, f"parameter {name}", "operations")
    try:
        return str(json.loads(answer["Parameter"]["Value"])["table"])
    except (KeyError, TypeError, ValueError) as error:
        raise AwsError(f"parameter {name} names no table: deploy the stack again") from error


def _not_deployed(environment: Environment, missing: str, stack: str) -> NotDeployedError:
    where = naming.stack_name(environment.name, stack)
    return NotDeployedError(f"there is no {missing}: deploy {where} with `cdk deploy -c env={environment.name}`")
