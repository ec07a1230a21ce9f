"""What AWS announces: what drains a node, what is only a note, and what is not understood."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.instance.collector import NoticeCollector
from agents.collectors.instance.marking import Marks
from agents.collectors.instance.metadata import InstanceMetadata
from tests.support.metadata_server import MetadataService, serving

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp()
REBOOT = """[{"NotBefore": "21 Nov 2026 12:10:00 GMT", "NotAfter": "21 Nov 2026 14:10:00 GMT", "Code": "system-reboot",
  "Description": "scheduled reboot", "EventId": "instance-event-0d59937288b749b32", "State": "STATE"}]"""


@pytest.fixture
def service() -> Iterator[MetadataService]:
    with serving() as running:
        running.items.update(
            {
                "instance-type": "trn1.32xlarge",
                "placement/availability-zone": "us-east-2c",
                "instance-life-cycle": "spot",
                "events/maintenance/scheduled": "[]",
                "autoscaling/target-lifecycle-state": "InService",
            }
        )
        yield running


@pytest.fixture(autouse=True)
def run_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def collector(service: MetadataService) -> NoticeCollector:
    return NoticeCollector(InstanceMetadata(service.url, timeout=20), Marks(Path()))


def seen(service: MetadataService, now: float = NOON) -> Contribution:
    return collector(service).collect(Request(now))


def test_without_notices_the_node_says_only_what_it_is(service: MetadataService) -> None:
    assert seen(service) == Contribution(
        event={"instance": {"type": "trn1.32xlarge", "availability_zone": "us-east-2c", "lifecycle": "spot"}}
    )


def test_a_spot_interruption_drains_the_node_with_its_time(service: MetadataService) -> None:
    service.items["spot/instance-action"] = '{"action": "terminate", "time": "2026-11-21T12:02:00Z"}'

    found = seen(service)

    assert found.draining == "spot interruption at 12:02Z: terminate"
    assert found.event["notices"] == [
        {"kind": "spot-interruption", "at": "2026-11-21T12:02:00Z", "action": "terminate"}
    ]


def test_on_a_capacity_block_the_same_notice_is_its_end(service: MetadataService) -> None:
    service.items["instance-life-cycle"] = "capacity-block"
    service.items["spot/instance-action"] = '{"action": "terminate", "time": "2026-11-21T12:30:00Z"}'

    assert seen(service).draining == "capacity block ends at 12:30Z: terminate"


def test_a_rebalance_recommendation_is_a_note(service: MetadataService) -> None:
    service.items["events/recommendations/rebalance"] = '{"noticeTime": "2026-11-21T11:59:00Z"}'

    found = seen(service)

    assert found.draining is None
    assert found.event["notices"] == [{"kind": "rebalance-recommendation", "at": "2026-11-21T11:59:00Z"}]


@pytest.mark.parametrize(
    ("minutes", "draining"),
    # The event begins ten minutes after noon and ends two hours later; ten minutes are left for a checkpoint.
    [
        (-1, None),
        (0, "system-reboot is scheduled for 12:10Z"),
        (130, "system-reboot is scheduled for 12:10Z"),
        (131, None),
    ],
)
def test_a_scheduled_event_drains_when_it_is_near(service: MetadataService, minutes: int, draining: str | None) -> None:
    service.items["events/maintenance/scheduled"] = REBOOT.replace("STATE", "active")

    found = seen(service, NOON + 60 * minutes)

    assert found.draining == draining
    assert found.event["notices"] == [
        {"kind": "scheduled-event", "at": "2026-11-21T12:10:00Z", "action": "system-reboot"}
    ]


@pytest.mark.parametrize("state", ["completed", "canceled"])
def test_a_scheduled_event_that_is_over_is_nothing(service: MetadataService, state: str) -> None:
    service.items["events/maintenance/scheduled"] = REBOOT.replace("STATE", state)

    found = seen(service)

    assert (found.draining, found.event.get("notices")) == (None, None)


@pytest.mark.parametrize(
    ("state", "draining", "kinds"),
    [
        ("Terminated", "the auto scaling group terminates the instance", ["scale-in"]),
        ("Warmed:Terminated", "the auto scaling group terminates the instance", ["scale-in"]),
        ("Standby", None, ["auto-scaling"]),
        ("Warmed:Running", None, []),
    ],
)
def test_scale_in_drains_and_standby_does_not(
    service: MetadataService, state: str, draining: str | None, kinds: list[str]
) -> None:
    service.items["autoscaling/target-lifecycle-state"] = state

    found = seen(service)

    assert found.draining == draining
    assert [notice["kind"] for notice in found.event.get("notices", [])] == kinds


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("spot/instance-action", "<html>"),
        ("spot/instance-action", '{"action": "terminate", "time": "2026-11-21T12:02:00"}'),
        ("events/maintenance/scheduled", '[{"Code": "x", "NotBefore": "soon"}]'),
        ("events/maintenance/scheduled", '[{"Code": "x", "NotBefore": "21 Foo 2026 12:10:00 GMT"}]'),
        ("events/maintenance/scheduled", '[{"Code": "x", "NotBefore": "01 Jan 0001 00:00:00 GMT"}]'),
        ("events/maintenance/scheduled", '[{"Code": "x", "NotBefore": "01 Jan 2026 00:00:00 CET"}]'),
        ("events/maintenance/scheduled", '{"Code": "x"}'),
        ("events/recommendations/rebalance", "{}"),
    ],
)
def test_what_is_not_understood_is_a_problem_and_hides_nothing_else(
    service: MetadataService, item: str, text: str
) -> None:
    service.items["autoscaling/target-lifecycle-state"] = "Terminated"
    service.items[item] = text

    found = seen(service)

    assert found.draining == "the auto scaling group terminates the instance"
    assert len(found.problems) == 1
    assert found.problems[0].startswith(f"instance metadata: {item} is not understood: ")


def test_a_notice_that_was_read_before_the_service_failed_still_counts(service: MetadataService) -> None:
    notices = collector(service)
    notices.collect(Request(NOON))
    service.items["spot/instance-action"] = '{"action": "stop", "time": "2026-11-21T12:02:00Z"}'
    service.statuses["events/maintenance/scheduled"] = [503, 503]

    found = notices.collect(Request(NOON + 60))

    assert found.draining == "spot interruption at 12:02Z: stop"
    assert found.problems == ("instance metadata: events/maintenance/scheduled: HTTP 503, twice",)


def test_a_host_without_instance_metadata_is_quiet_and_seldom_asked(service: MetadataService) -> None:
    service.statuses["token"] = [403, 403]
    notices = collector(service)

    assert notices.collect(Request(NOON)) == Contribution()
    assert notices.collect(Request(NOON + 299)) == Contribution()
    assert service.statuses["token"] == [403]
    assert notices.collect(Request(NOON + 300)) == Contribution()
    assert notices.collect(Request(NOON + 600)).event["instance"]["lifecycle"] == "spot"


def test_what_the_instance_is_gets_asked_once(service: MetadataService) -> None:
    notices = collector(service)

    for minute in range(3):
        notices.collect(Request(NOON + 60 * minute))

    assert service.asked.count("instance-type") == 1
    assert service.asked.count("spot/instance-action") == 3
