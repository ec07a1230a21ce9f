"""`fleet page test` over an account in memory, behind which the pager itself stands."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.account import Account, AwsError
from cli.main import app
from lambdas.pager import handler
from tests.support.pager import LambdaContext, Pager, sns_event
from tests.support.pager_deployment import deployed


class PagedAccount:
    """Publishes to the pager's handler; ``hears`` is False for a pager that never gets a message."""

    def __init__(self, pager: Pager, *, hears: bool = True) -> None:
        self.pager, self.hears, self.published = pager, hears, list[dict[str, Any]]()

    def answer(self, service: str, method: str, request: dict[str, Any]) -> dict[str, Any]:
        if (service, method) == ("ssm", "get_parameter"):
            return {"Parameter": {"Value": json.dumps({"table": "pages"})}}
        if (service, method) == ("dynamodb", "get_item"):
            return self.pager.table.get_item(**request)
        assert (service, method) == ("sns", "publish")
        self.published.append(request)
        if self.hears:
            topic = request["TopicArn"].rpartition(":")[2]
            try:
                handler.lambda_handler(sns_event(request["Message"], topic), LambdaContext())
            except Exception:
                # SNS tries again; whoever publishes does not hear of it.
                return {}
        return {}


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Any:
    pager = Pager()
    account = PagedAccount(pager)

    def call(_: Account, service: str, method: str, /, *, once: bool, **request: Any) -> dict[str, Any]:
        del once
        return account.answer(service, method, request)

    monkeypatch.setattr(Account, "_call", call)
    monkeypatch.setattr("cli.page.time.sleep", lambda _: None)
    with deployed(pager, monkeypatch):
        yield account


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["page", "test", "prod", *words])


def test_a_test_page_is_marked_reported_for_each_destination_and_resolved(account: PagedAccount) -> None:
    result = run("--json")

    assert result.exit_code == 0
    told = json.loads(result.stdout[result.stdout.index('{\n  "severity"') :])
    assert told == {
        "severity": "page",
        "trigger": {"pagerduty": "", "slack": ""},
        "resolve": {"pagerduty": "", "slack": ""},
    }
    assert [event["event_action"] for event in account.pager.inbox.pagerduty] == ["trigger", "resolve"]
    assert all(event["payload"]["summary"].startswith("TEST ") for event in account.pager.inbox.pagerduty)
    assert account.pager.logs.queries == []


def test_a_ticket_wakes_nobody(account: PagedAccount) -> None:
    assert run("--severity", "ticket").exit_code == 0
    assert account.published[0]["TopicArn"].endswith(":neuron-fleet-prod-ticket")
    assert account.pager.inbox.pagerduty == []


def test_a_destination_that_refuses_is_named_with_its_reason(account: PagedAccount) -> None:
    account.pager.inbox.refuses = {"slack"}

    result = run()

    assert result.exit_code == 1
    assert "refused with HTTP 500" in result.stdout
    assert "not every destination took it" in result.stderr


def test_a_pager_that_says_nothing_is_waited_for_so_long_and_no_longer(
    account: PagedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.hears = False
    ticks = iter(range(1000))
    monkeypatch.setattr("cli.page.time.monotonic", lambda: float(next(ticks)))

    result = run("--wait", "5")

    assert result.exit_code == 1
    assert "the pager said nothing of the test page within 5 s" in result.stderr
    assert next(ticks) < 20


def test_what_is_not_deployed_is_one_line(account: PagedAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> dict[str, Any]:
        raise AwsError("no", "ParameterNotFound")

    monkeypatch.setattr(Account, "_call", refuse)
    result = run()

    assert result.exit_code == 1
    assert "there is no parameter /neuron-fleet/prod/pager: deploy neuron-fleet-prod-operations" in result.stderr
