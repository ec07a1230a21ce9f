"""The account answers in time or not at all, and says which permission is missing in the words of a policy."""

import time

import pytest
from botocore.stub import Stubber

from cli.account import NO_CREDENTIALS
from cli.doctor.account import NO_ANSWER, DoctorAccount, UnansweredError
from local.emulator_process import aws_environment, pointed_at
from tests.support.http_endpoint import Answer, endpoint


def account_at(url: str) -> DoctorAccount:
    with pointed_at(aws_environment(url, "000000000000", "us-east-2")):
        account = DoctorAccount("us-east-2")
        for service in ("ec2", "service-quotas"):
            account._client(service)
    return account


def failure(account: DoctorAccount, service: str, method: str, **request: object) -> UnansweredError:
    with pytest.raises(UnansweredError) as raised:
        getattr(getattr(account, service.replace("-", "_")), method)(**request)
    return raised.value


def test_a_denied_call_names_the_action_of_a_policy_and_not_of_boto3() -> None:
    account = account_at("http://127.0.0.1:9")
    with Stubber(account._client("service-quotas")) as stub:
        stub.add_client_error("get_service_quota", "AccessDeniedException")
        error = failure(account, "service-quotas", "get_service_quota", ServiceCode="ec2", QuotaCode="L-2C3B7624")
    assert (error.finding.code, error.finding.value) == ("not-allowed", "servicequotas:GetServiceQuota")


def test_an_endpoint_that_nobody_listens_at_is_a_finding_within_seconds() -> None:
    started = time.monotonic()
    error = failure(account_at("http://127.0.0.1:9"), "ec2", "describe_instances")
    assert (error.code, error.finding.code) == (NO_ANSWER, "not-answered")
    assert time.monotonic() - started < 60


def test_a_busy_service_is_asked_twice_and_no_more() -> None:
    busy = Answer(503, b"<Response><Errors><Error><Code>Unavailable</Code></Error></Errors></Response>")
    with endpoint(busy, busy, busy, busy) as server:
        error = failure(account_at(server.url), "ec2", "describe_instances")
        assert len(server.received) == 2
    assert error.finding.code == "not-answered"


def test_a_page_of_a_proxy_is_a_finding() -> None:
    with endpoint(*[Answer(200, b"<html>log in first")] * 3) as server:
        assert failure(account_at(server.url), "ec2", "describe_instances").finding.code == "not-answered"


def test_what_is_not_there_is_told_from_what_is_refused() -> None:
    account = account_at("http://127.0.0.1:9")
    with Stubber(account._client("ec2")) as stub:
        for _ in range(2):
            stub.add_client_error("describe_images", "InvalidAMIID.NotFound", "no such image")
        assert account.find({"InvalidAMIID.NotFound"}, account.ec2.describe_images) is None
        with pytest.raises(UnansweredError, match="no such image") as raised:
            account.find(set(), account.ec2.describe_images)
    assert raised.value.code == "InvalidAMIID.NotFound"


def test_a_profile_that_does_not_exist_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody-of-this-name")
    error = failure(DoctorAccount("us-east-2"), "sts", "get_caller_identity")
    assert error.code == NO_CREDENTIALS
    assert "nobody-of-this-name" in error.message


def test_an_address_that_is_none_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nowhere")
    assert failure(DoctorAccount("us-east-2"), "sts", "get_caller_identity").code == NO_ANSWER


def test_every_page_is_read() -> None:
    account = account_at("http://127.0.0.1:9")
    zones = [{"InstanceTypeOfferings": [{"Location": "use2-az1"}], "NextToken": "more"}]
    with Stubber(account._client("ec2")) as stub:
        stub.add_response("describe_instance_type_offerings", zones[0], {})
        last = {"InstanceTypeOfferings": [{"Location": "use2-az3"}]}
        stub.add_response("describe_instance_type_offerings", last, {"NextToken": "more"})
        found = [
            each
            for page in account.ec2.get_paginator("describe_instance_type_offerings").paginate()
            for each in page.get("InstanceTypeOfferings", [])
        ]
    assert [each["Location"] for each in found] == ["use2-az1", "use2-az3"]
