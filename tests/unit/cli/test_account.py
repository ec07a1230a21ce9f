"""AWS answers in time or not at all, and what starts a job is said once unless it certainly was not heard."""

import time
from typing import Any

import pytest
from botocore.stub import Stubber

from cli.account import Account, AwsError
from local.emulator_process import aws_environment, pointed_at
from tests.support.http_endpoint import Answer, endpoint

BUSY = Answer(503, b'{"message": "busy"}')
SUBMISSION: Any = {"jobName": "a", "jobQueue": "q", "jobDefinition": "d"}


def account_at(url: str) -> Account:
    with pointed_at(aws_environment(url, "000000000000", "us-east-2")):
        account = Account("us-east-2")
        for once in (False, True):
            account._client("batch", once=once)
    return account


def test_a_submission_that_a_server_failed_on_is_not_repeated_and_may_have_been_heard() -> None:
    with endpoint(BUSY, BUSY, BUSY) as server:
        with pytest.raises(AwsError) as raised:
            account_at(server.url).once.batch.submit_job(**SUBMISSION)
        assert len(server.received) == 1
    assert raised.value.is_lost


def test_a_question_that_a_server_failed_on_is_asked_three_times() -> None:
    with endpoint(BUSY, BUSY, BUSY, BUSY) as server:
        with pytest.raises(AwsError):
            account_at(server.url).batch.describe_jobs(jobs=["a"])
        assert len(server.received) == 3


def test_what_nobody_listens_for_was_certainly_not_heard() -> None:
    started = time.monotonic()
    with pytest.raises(AwsError, match="AWS did not answer batch:submit_job") as raised:
        account_at("http://127.0.0.1:9").once.batch.submit_job(**SUBMISSION)
    assert not raised.value.is_lost
    assert time.monotonic() - started < 60


def test_a_connection_that_ends_without_an_answer_may_have_been_heard() -> None:
    with endpoint(Answer(hang_up=True)) as server, pytest.raises(AwsError) as raised:
        account_at(server.url).once.batch.submit_job(**SUBMISSION)
    assert raised.value.is_lost
    assert len(server.received) == 1


def test_a_refusal_names_the_permission_that_is_missing() -> None:
    account = account_at("http://127.0.0.1:9")
    with Stubber(account._client("batch", once=True)) as stub:
        stub.add_client_error("submit_job", "AccessDeniedException", "no", http_status_code=403)
        with pytest.raises(AwsError, match="these credentials may not call batch:submit_job") as raised:
            account.once.batch.submit_job(**SUBMISSION)
    assert not raised.value.is_lost


def test_every_page_is_read() -> None:
    pages = [b'{"jobSummaryList": [{"jobId": "1", "jobName": "a"}], "nextToken": "t"}', b'{"jobSummaryList": []}']
    with endpoint(*[Answer(200, page) for page in pages]) as server:
        found = [
            each
            for page in account_at(server.url).batch.get_paginator("list_jobs").paginate(jobQueue="q")
            for each in page.get("jobSummaryList", [])
        ]
    assert [each["jobId"] for each in found] == ["1"]


def test_a_list_without_an_end_is_an_error_and_not_a_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account("us-east-2")
    page = {"jobSummaryList": [{}], "nextToken": "more"}
    monkeypatch.setattr(account, "_call", lambda *_, **__: page)
    pages = account.batch.get_paginator("list_jobs").paginate
    with pytest.raises(AwsError, match="batch:list_jobs goes on after 50 pages"):
        list(pages())
    page = {"jobSummaryList": [{}]}
    assert len(list(pages())) == 1


@pytest.mark.parametrize("code", ["ExpiredToken", "ExpiredTokenException", "UnrecognizedClientException"])
def test_credentials_that_are_not_taken_say_what_to_do(code: str) -> None:
    account = account_at("http://127.0.0.1:9")
    with Stubber(account._client("batch", once=True)) as stub:
        stub.add_client_error("submit_job", code, "The security token is expired", http_status_code=403)
        with pytest.raises(AwsError) as raised:
            account.once.batch.submit_job(**SUBMISSION)
    assert str(raised.value) == (
        "there are no credentials that AWS accepts: The security token is expired; aws sso login, or set AWS_PROFILE"
    )


def test_an_endpoint_that_is_not_there_says_what_to_check() -> None:
    with pytest.raises(
        AwsError, match=r"AWS did not answer batch:submit_job in us-east-2: .*check the network, AWS_ENDPOINT_URL"
    ):
        account_at("http://127.0.0.1:9").once.batch.submit_job(**SUBMISSION)
