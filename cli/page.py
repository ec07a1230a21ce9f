"""`fleet page` and its one command: a page that says it is a test, all the way, and what became of it.

The page is published as an alarm's transition; the pager writes down what became of it.
"""

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

import typer

from cli.account import Account, AwsError
from cli.answers import print_json, refuse
from cli.jobs.submission_targets import NotDeployedError
from cli.named import Name, answering
from cli.progress import waiting
from cli.tables import Table, print_table
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
    table = _pages_table(account, environment)
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


def _pages_table(account: Account, environment: Environment) -> str:
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


app = typer.Typer(help="Whether pages arrive.", no_args_is_help=True)


@app.callback()
def page() -> None:
    """Whether pages arrive."""


@app.command(name="test")
def try_out(
    environment: Name,
    severity: Annotated[
        Literal["page", "ticket"], typer.Option(help="A page wakes people, a ticket does not.")
    ] = "page",
    seconds: Annotated[float, typer.Option("--wait", min=1, max=900, help="Seconds to wait for each answer.")] = 60.0,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Send a page marked TEST as an alarm would, see what each destination did with it, and resolve it."""
    with answering(environment) as named:
        account = Account(named.region)
        told = {}
        for state, before in ((State.ALARM, State.OK), (State.OK, State.ALARM)):
            page = send(account, named, severity, state, before, datetime.now(UTC))
            told[state] = _answer(account, page, seconds)
            if told[state] is None and state is State.ALARM:
                break
    raised, resolved = told[State.ALARM], told.get(State.OK)
    if json_:
        print_json({"severity": severity, "trigger": raised, "resolve": resolved})
    elif raised is not None:
        print_table(_table(raised, resolved))
    if raised is None or (resolved is None and raised):
        what = "test page" if raised is None else "resolve of the test page"
        refuse(f"the pager said nothing of the {what} within {seconds:g} s: read its log and its waiting queue")
    if not raised:
        refuse(f"no route of {environment} leads a {severity} anywhere")
    if any(raised.values()) or any((resolved or {}).values()):
        refuse("not every destination took it; what failed is tried again for some hours")


def _answer(account: Account, page: SentPage, seconds: float) -> dict[str, str] | None:
    """By destination "" or what went wrong; None when nothing was heard in time."""
    end = time.monotonic() + seconds
    with waiting("waiting for what the destinations say"):
        while (results := results_of(account, page)) is None and time.monotonic() < end:
            time.sleep(1)
    return results


def _table(raised: dict[str, str], resolved: dict[str, str] | None) -> Table:
    table = Table("destination", "page", "resolve")
    for name, problem in raised.items():
        ended = "nothing was heard" if resolved is None else resolved.get(name, "not told, for the page was not")
        table.add_row(name, problem or "taken", ended or "taken")
    return table
