"""The instance metadata client, against a server of our own."""

from collections.abc import Iterator

import pytest

from agents.collectors.instance.metadata import InstanceMetadata, instance_id
from agents.errors import MetadataError
from tests.support.metadata_server import MetadataService, serving

# A busy machine takes more than the second that an agent waits.
PATIENCE = 20


@pytest.fixture
def service() -> Iterator[MetadataService]:
    with serving() as running:
        yield running


def test_the_token_comes_first_and_the_name_is_trimmed(service: MetadataService) -> None:
    assert instance_id(service.url) == "i-0123"
    assert service.tokens == 1


def test_without_instance_metadata_there_is_no_name(service: MetadataService) -> None:
    del service.items["instance-id"]

    assert instance_id(service.url) == ""
    assert instance_id("http://127.0.0.1:9/latest") == ""
    assert instance_id("") == ""


def test_one_token_serves_many_questions_until_it_is_old(service: MetadataService) -> None:
    # Each question looks at the time once, and once more when it gets a token.
    times = iter([0.0, 60.0, 17_999.0, 18_000.0, 18_000.0])
    client = InstanceMetadata(service.url, timeout=PATIENCE, elapsed=lambda: next(times))

    tokens = []
    for _ in range(4):
        assert client.get("instance-id") == "i-0123"
        tokens.append(service.tokens)

    assert tokens == [1, 1, 1, 2]
    assert service.lifetimes == ["21600", "21600"]


def test_a_forgotten_token_is_renewed_once(service: MetadataService) -> None:
    client = InstanceMetadata(service.url, timeout=PATIENCE)
    client.get("instance-id")
    service.hand_out("the host was stopped and started")

    assert client.get("instance-id") == "i-0123"

    service.statuses["instance-id"] = [401, 401]
    with pytest.raises(MetadataError, match="instance-id: HTTP 401, twice"):
        client.get("instance-id")


def test_an_item_that_does_not_exist_is_none(service: MetadataService) -> None:
    assert InstanceMetadata(service.url, timeout=PATIENCE).get("spot/instance-action") is None


def test_a_busy_service_is_asked_twice_and_no_more(service: MetadataService) -> None:
    client = InstanceMetadata(service.url, timeout=PATIENCE)
    service.statuses["instance-id"] = [503]
    assert client.get("instance-id") == "i-0123"

    service.statuses["instance-id"] = [503, 503]
    with pytest.raises(MetadataError, match="instance-id: HTTP 503, twice"):
        client.get("instance-id")

    assert service.asked.count("instance-id") == 4


def test_a_service_that_is_switched_off_says_so(service: MetadataService) -> None:
    service.statuses["token"] = [403]

    with pytest.raises(MetadataError, match="instance-id: HTTP 403"):
        InstanceMetadata(service.url, timeout=PATIENCE).get("instance-id")


def test_silence_ends_after_the_timeout_and_is_not_asked_again(service: MetadataService) -> None:
    client = InstanceMetadata(service.url, timeout=PATIENCE)
    client.get("instance-id")
    service.silent.add("instance-type")
    client._timeout = 0.1

    with pytest.raises(MetadataError, match="instance-type: timed out"):
        client.get("instance-type")

    assert service.asked.count("instance-type") <= 1


def test_an_answer_that_is_no_text_or_too_large_is_refused(service: MetadataService) -> None:
    service.items["instance-id"] = "x" * (64 * 1024 + 1)
    with pytest.raises(MetadataError, match="larger than 64 KiB"):
        InstanceMetadata(service.url, timeout=PATIENCE).get("instance-id")

    service.items["instance-id"] = "\udcff"
    with pytest.raises(MetadataError, match="can't decode"):
        InstanceMetadata(service.url, timeout=PATIENCE).get("instance-id")
