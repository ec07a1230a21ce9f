"""What AWS announces reaches the work on the node: the checkpoint library's own reading of the markers says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.collectors.collector import Request
from agents.collectors.instance.collector import NoticeCollector
from agents.collectors.instance.marking import SAVING_SECONDS, Marks
from agents.collectors.instance.metadata import InstanceMetadata
from agents.collectors.markers import MarkerCollector
from tests.support.metadata_server import MetadataService, serving
from workload.checkpoint.drain import Drain, Wish

NOON = 1_795_262_400.0
INTERRUPTION = '{"action": "terminate", "time": "2026-11-21T12:02:00Z"}'
REBALANCE = '{"noticeTime": "2026-11-21T11:59:00Z"}'
REBOOT = '[{"NotBefore": "21 Nov 2026 12:10:00 GMT", "Code": "system-reboot", "State": "active"}]'


@pytest.fixture
def service() -> Iterator[MetadataService]:
    with serving() as running:
        yield running


class Node:
    """An agent's two collectors and a rank, over one run directory."""

    def __init__(self, service: MetadataService, run_directory: Path) -> None:
        self.notices = NoticeCollector(InstanceMetadata(service.url, timeout=20), Marks(run_directory))
        self.markers = MarkerCollector(run_directory)
        self.rank = Drain(run_directory, seconds=0.0)
        self.minute = 0.0

    def minutes(self, count: float = 1) -> Wish:
        """What the rank wishes after the agent's next look, ``count`` minutes later."""
        self.minute += count
        assert self.notices.collect(Request(NOON + 60 * self.minute)).problems == ()
        return self.rank.wish()


@pytest.fixture
def node(service: MetadataService, tmp_path: Path) -> Node:
    return Node(service, tmp_path)


def test_a_spot_interruption_makes_the_work_save_and_end(service: MetadataService, node: Node) -> None:
    assert node.minutes() is Wish.NOTHING
    service.items["spot/instance-action"] = INTERRUPTION

    assert node.minutes() is Wish.END
    assert node.markers.collect(Request(NOON)).draining == ("instance metadata: spot interruption at 12:02Z: terminate")


def test_scale_in_makes_the_work_save_and_end(service: MetadataService, node: Node) -> None:
    service.items["autoscaling/target-lifecycle-state"] = "Terminated"

    assert node.minutes() is Wish.END


@pytest.mark.parametrize(
    ("item", "text"), [("events/recommendations/rebalance", REBALANCE), ("events/maintenance/scheduled", REBOOT)]
)
def test_what_may_take_the_node_makes_the_work_save_once_and_go_on(
    service: MetadataService, node: Node, tmp_path: Path, item: str, text: str
) -> None:
    service.items[item] = text

    assert node.minutes() is Wish.CHECKPOINT
    node.rank.answered()
    assert [node.minutes() for _ in range(8)] == [Wish.NOTHING] * 8
    assert list(tmp_path.iterdir()) == []


def test_a_request_to_save_is_no_excuse_for_ever(service: MetadataService, node: Node) -> None:
    service.items["events/recommendations/rebalance"] = REBALANCE

    node.minutes()
    assert node.markers.collect(Request(NOON)).phases
    node.minutes(SAVING_SECONDS / 60)

    assert not node.markers.collect(Request(NOON)).phases


def test_a_second_recommendation_asks_again(service: MetadataService, node: Node) -> None:
    service.items["events/recommendations/rebalance"] = REBALANCE
    node.minutes()
    node.rank.answered()
    node.minutes(SAVING_SECONDS / 60)
    service.items["events/recommendations/rebalance"] = REBALANCE.replace("11:59", "12:30")

    assert node.minutes() is Wish.CHECKPOINT


def test_a_notice_that_is_taken_back_takes_its_marker_along_also_after_a_restart(
    service: MetadataService, node: Node, tmp_path: Path
) -> None:
    service.items["autoscaling/target-lifecycle-state"] = "Terminated"
    node.minutes()
    service.items["autoscaling/target-lifecycle-state"] = "InService"

    assert Node(service, tmp_path).minutes() is Wish.NOTHING


def test_a_marker_of_somebody_else_stays_as_it_is(service: MetadataService, node: Node, tmp_path: Path) -> None:
    (tmp_path / "drain").write_text("the job is stopped\n")
    service.items["spot/instance-action"] = INTERRUPTION
    node.minutes()
    service.items.pop("spot/instance-action")
    node.minutes()

    assert (tmp_path / "drain").read_text() == "the job is stopped\n"


def test_a_service_that_fails_takes_no_marker_back(service: MetadataService, node: Node, tmp_path: Path) -> None:
    service.items["spot/instance-action"] = INTERRUPTION
    node.minutes()
    service.statuses["spot/instance-action"] = [503, 503]
    node.notices.collect(Request(NOON + 120))

    assert (tmp_path / "drain").is_file()


def test_a_marker_that_cannot_be_written_is_a_problem_and_hides_no_notice(
    service: MetadataService, tmp_path: Path
) -> None:
    service.items["spot/instance-action"] = INTERRUPTION
    notices = NoticeCollector(InstanceMetadata(service.url, timeout=20), Marks(tmp_path / "not-there"))

    found = notices.collect(Request(NOON))

    assert found.draining == "spot interruption at 12:02Z: terminate"
    assert found.problems == ("marker drain: No such file or directory",)
