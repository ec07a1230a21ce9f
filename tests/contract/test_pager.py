"""The pager as it is deployed: SNS event in, HTTP out, metrics on standard output, secrets nowhere."""

import json
import logging
import subprocess
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from fleet import naming
from fleet import operations_metrics as metrics
from lambdas.pager import handler
from lambdas.pager.destinations.sending import HttpPoster
from lambdas.pager.errors import DeliveryError
from tests.support.pager import (
    ROUTING_KEY,
    SLACK_URL,
    LambdaContext,
    Pager,
    alarm_message,
    history,
    sns_event,
)
from tests.support.pager_deployment import deployed

WASTE = {"wasted_usd_per_hour": 18.0}


@pytest.fixture
def pager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pager]:
    pager = Pager().seen(*history("i-a", {20: WASTE}))
    with deployed(pager, monkeypatch):
        yield pager


def emitted(output: str) -> list[dict[str, Any]]:
    """The EMF objects among the lines on standard output."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [line for line in lines if "_aws" in line]


def test_an_alarm_becomes_two_messages_and_two_counts(pager: Pager, capsys: pytest.CaptureFixture[str]) -> None:
    handler.lambda_handler(sns_event(alarm_message("composite")), LambdaContext())

    assert len(pager.inbox.pagerduty) == len(pager.inbox.slack) == 1
    counts = emitted(capsys.readouterr().out)
    assert [(count[metrics.PAGES_SENT.name], count["destination"]) for count in counts] == [
        ([1.0], "pagerduty"),
        ([1.0], "slack"),
    ]
    for count in counts:
        [directive] = count["_aws"]["CloudWatchMetrics"]
        assert directive["Namespace"] == metrics.NAMESPACE
        assert directive["Dimensions"] == [[metrics.ENVIRONMENT]]
        assert count[metrics.ENVIRONMENT] == "prod"


def test_an_undelivered_page_raises_so_that_lambda_repeats_it(pager: Pager, capsys: pytest.CaptureFixture[str]) -> None:
    pager.inbox.refuses = {"pagerduty"}
    event = sns_event(alarm_message())

    with pytest.raises(DeliveryError, match="prod/trn1-pretrain/IdleAllocated to pagerduty: refused with HTTP 500"):
        handler.lambda_handler(event, LambdaContext())
    failed = emitted(capsys.readouterr().out)
    pager.inbox.refuses = set()
    handler.lambda_handler(event, LambdaContext())

    assert [count["destination"] for count in failed if metrics.PAGES_FAILED.name in count] == ["pagerduty"]
    assert len(pager.inbox.pagerduty) == len(pager.inbox.slack) == 1


def test_a_bare_page_is_counted(pager: Pager, capsys: pytest.CaptureFixture[str]) -> None:
    pager.logs.messages = []

    handler.lambda_handler(sns_event(alarm_message()), LambdaContext())

    assert [metrics.ENRICHMENT_FAILED.name in count for count in emitted(capsys.readouterr().out)].count(True) == 1


def test_the_topic_decides_who_is_woken(pager: Pager) -> None:
    handler.lambda_handler(sns_event(alarm_message(), topic="neuron-fleet-prod-ticket"), LambdaContext())

    assert (len(pager.inbox.pagerduty), len(pager.inbox.slack)) == (0, 1)


def test_a_message_that_is_no_alarm_ends_in_the_dead_letters(pager: Pager) -> None:
    with pytest.raises(DeliveryError, match="neither an alarm transition"):
        handler.lambda_handler(sns_event("hello"), LambdaContext())

    assert pager.inbox.posts == []


def test_secrets_are_in_no_log_and_no_error(
    pager: Pager, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    pager.inbox.refuses = {"slack"}

    with caplog.at_level(logging.DEBUG), pytest.raises(DeliveryError) as failure:
        handler.lambda_handler(sns_event(alarm_message()), LambdaContext())

    captured = capsys.readouterr()
    told = captured.out + captured.err + caplog.text + str(failure.getrepr(style="long"))
    assert "transition handled" in told
    assert ROUTING_KEY not in told
    assert SLACK_URL not in told
    assert "s3cr3t" not in told


@pytest.mark.parametrize("fault", ["not JSON", '{"routing_key": ""}', "[]"])
def test_a_malformed_secret_and_a_broken_client_show_no_secret_either(
    pager: Pager,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    pager.secrets.values["prod/pagerduty"] = f"{fault} {ROUTING_KEY}"

    def broken(_: HttpPoster, url: str, *_more: object) -> None:
        raise RuntimeError(f"no route to {url}")

    monkeypatch.setattr(HttpPoster, "post", broken)
    handler._dependencies.cache_clear()

    with caplog.at_level(logging.DEBUG), pytest.raises(DeliveryError) as failure:
        handler.lambda_handler(sns_event(alarm_message()), LambdaContext())

    captured = capsys.readouterr()
    told = captured.out + captured.err + caplog.text + "".join(traceback.format_exception(failure.value))
    assert "secret prod/pagerduty is not JSON of the form" in told
    assert "to slack: RuntimeError" in told
    assert not [secret for secret in (ROUTING_KEY, SLACK_URL, "s3cr3t") if secret in told]


def test_importing_the_handler_reads_no_environment_and_needs_no_region() -> None:
    program = "import os; os.environ.clear(); import lambdas.pager.handler as h; print(h.lambda_handler.__name__)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "lambda_handler"


def test_alarm_names_are_read_as_they_are_composed() -> None:
    assert naming.split_alarm_name(naming.alarm_name("prod", "trn1-pretrain", "JobHang")) == (
        "prod",
        "trn1-pretrain",
        "JobHang",
    )
    assert naming.split_alarm_name("JobHang") is None
