"""A name counts when STS says it, for this request and no other."""

import json
from collections.abc import Mapping

import pytest

from fleet.approval import RefusedError, binding
from lambdas.shared.identity import caller, principal

HOST = "sts.us-east-2.amazonaws.com"
SIGNED = f"https://{HOST}/?Action=GetCallerIdentity&X-Amz-SignedHeaders=host%3Bx-neuron-fleet-request&X-Amz-Signature=1"
SESSION = "arn:aws:sts::111122223333:assumed-role/approver/ada"


class Sts:
    """Answers as STS does, and remembers what was asked."""

    def __init__(self, status: int = 200, arn: str = SESSION, body: bytes | None = None) -> None:
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        result = {"GetCallerIdentityResponse": {"GetCallerIdentityResult": {"Arn": arn}}}
        self._answer = status, json.dumps(result).encode() if body is None else body

    def get(self, url: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
        self.asked.append((url, headers))
        return self._answer


def test_a_session_of_a_role_counts_as_the_role_and_the_request_is_part_of_what_was_signed() -> None:
    sts = Sts()

    assert caller(SIGNED, HOST, binding("prod", "approve", "r1"), sts.get) == "arn:aws:iam::111122223333:role/approver"
    ((url, headers),) = sts.asked
    assert url == SIGNED
    assert headers["x-neuron-fleet-request"] == "prod/approve/r1"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (SIGNED.replace("https", "http"), "not one of STS"),
        (SIGNED.replace(HOST, "sts.us-east-2.amazonaws.com.evil.example"), "not one of STS"),
        (SIGNED.replace(HOST, f"evil.example@{HOST}"), "not one of STS"),
        (SIGNED.replace("/?", "/other?"), "not one of STS"),
        (SIGNED.replace("GetCallerIdentity", "GetSessionToken"), "something else than GetCallerIdentity"),
        (SIGNED.replace("&X-Amz", "&Action=GetSessionToken&X-Amz", 1), "something else than GetCallerIdentity"),
        (SIGNED.replace("%3Bx-neuron-fleet-request", ""), "does not cover the header"),
    ],
)
def test_nobody_is_asked_about_a_url_that_is_not_such_a_signature(url: str, why: str) -> None:
    sts = Sts()

    with pytest.raises(RefusedError, match=why):
        caller(url, HOST, "prod/approve/r1", sts.get)

    assert sts.asked == []


@pytest.mark.parametrize("sts", [Sts(status=403), Sts(body=b"<xml/>"), Sts(body=b"{}"), Sts(body=b"[]")])
def test_what_sts_does_not_confirm_is_nobody(sts: Sts) -> None:
    with pytest.raises(RefusedError):
        caller(SIGNED, HOST, "prod/approve/r1", sts.get)


@pytest.mark.parametrize(
    ("arn", "name"),
    [
        ("arn:aws:iam::111122223333:user/ada", "arn:aws:iam::111122223333:user/ada"),
        ("arn:aws:iam::111122223333:role/team/ml/approver", "arn:aws:iam::111122223333:role/approver"),
        ("arn:aws-us-gov:sts::111122223333:assumed-role/a/b", "arn:aws-us-gov:iam::111122223333:role/a"),
    ],
)
def test_principals_compare_by_name(arn: str, name: str) -> None:
    assert principal(arn) == name
