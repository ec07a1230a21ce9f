"""Stand-ins for AWS's clients cannot take or give what AWS does not."""

import pytest

from tests.support.client_shapes import ClientShapeError, shaped


class Parameters:
    def __init__(self, answer: dict[str, object]) -> None:
        self.answer = answer

    def get_parameter(self, **request: object) -> dict[str, object]:
        return self.answer


def test_what_aws_knows_passes_both_ways() -> None:
    client = shaped("ssm", Parameters({"Parameter": {"Value": "a"}, "ResponseMetadata": {}}))

    assert client.get_parameter(Name="n")["Parameter"] == {"Value": "a"}


def test_a_request_that_aws_would_refuse_fails() -> None:
    with pytest.raises(ClientShapeError, match=r'GetParameter: the request [\s\S]*Unknown parameter in input: "Nmae"'):
        shaped("ssm", Parameters({})).get_parameter(Nmae="n")


def test_an_answer_that_aws_never_gives_fails() -> None:
    with pytest.raises(ClientShapeError, match=r'GetParameter: the answer .*"Valeu"'):
        shaped("ssm", Parameters({"Parameter": {"Valeu": "a"}})).get_parameter(Name="n")
