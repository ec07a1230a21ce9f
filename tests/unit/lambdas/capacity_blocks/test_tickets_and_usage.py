"""What is told goes to the ticket topic; what was measured comes from the node log."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from fleet.blocks.life import Block
from fleet.blocks.post_mortem import NodeMinutes
from lambdas.capacity_blocks import reports
from lambdas.capacity_blocks.usage import NodeLogUsage, UsageError
from lambdas.pager.messages import Notice
from lambdas.shared.tickets import Tickets
from tests.support import block_world
from tests.support.aws_fakes import FakeTicker, client_error
from tests.support.block_world import BEGIN
from tests.support.client_shapes import shaped

END = BEGIN + timedelta(hours=24)


@dataclass
class Insights:
    """Answers rows of fields after ``polls`` answers of Running."""

    rows: list[dict[str, str]] = field(default_factory=list)
    status: str = "Complete"
    polls: int = 0
    error: Exception | None = None
    queries: list[dict[str, Any]] = field(default_factory=list)
    stopped: int = 0

    def start_query(self, **request: Any) -> dict[str, Any]:
        if self.error:
            raise self.error
        self.queries.append(request)
        return {"queryId": "q"}

    def get_query_results(self, **_: Any) -> dict[str, Any]:
        self.polls -= 1
        if self.polls >= 0:
            return {"status": "Running", "results": []}
        rows = [[{"field": name, "value": value} for name, value in row.items()] for row in self.rows]
        return {"status": self.status, "results": rows}

    def stop_query(self, **_: Any) -> dict[str, Any]:
        self.stopped += 1
        return {"success": True}


def test_a_ticket_is_a_notice_that_the_pager_reads(stubbed: Callable[[str], tuple[Any, Stubber]]) -> None:
    sent: list[dict[str, Any]] = []
    client, stubber = stubbed("sns")
    client.meta.events.register("provide-client-params.sns.Publish", lambda params, **_: sent.append(params))
    stubber.add_response("publish", {"MessageId": "1"})

    Tickets(client, "arn:aws:sns:us-east-2:111122223333:t", "capacity-block").tell(
        "cr-1:drain", "frontier \u2014 over" + "!" * 100, "body"
    )

    assert sent[0]["Subject"] == "frontier ? over" + "!" * 85
    assert Notice.model_validate_json(sent[0]["Message"]) == Notice.model_validate(
        {"notice_key": "capacity-block:cr-1:drain", "subject": "frontier \u2014 over" + "!" * 100, "body": "body"}
    )


def test_a_ticket_that_the_topic_does_not_take_is_an_error(stubbed: Callable[[str], tuple[Any, Stubber]]) -> None:
    client, stubber = stubbed("sns")
    stubber.add_client_error("publish", "KMSAccessDenied", http_status_code=400)

    with pytest.raises(ClientError, match="KMSAccessDenied"):
        Tickets(client, "t", "k").tell("k", "s", "b")


def test_the_minutes_of_a_node_are_added_up_by_state() -> None:
    rows = [
        {
            "node": "i-1",
            "state": "RUNNING",
            "minutes": "600",
            "utilization": "41.5",
            "wasted": "1200",
            "counted": "12000",
        },
        {"node": "i-1", "state": "NO_JOB", "minutes": "60", "wasted": "2400", "counted": "2400"},
        {"node": "i-1", "state": "BLIND", "minutes": "30", "wasted": "9999", "counted": "9999"},
        {"node": "i-2", "state": "NO_JOB", "minutes": "10"},
    ]
    logs = Insights(rows, polls=3)

    found = NodeLogUsage(shaped("logs", logs), "/neuron-fleet/prod/nodes", FakeTicker()).minutes("frontier", BEGIN, END)

    # 1,200 and 2,400 dollars an hour, summed over minutes: 3,600 / 60 dollars of 14,400 / 60. The blind half hour was
    # not measured.
    assert found == (NodeMinutes("i-1", 660, 600, 41.5, 60.0, 240.0), NodeMinutes("i-2", 10, 0, None, 0.0, 0.0))
    (query,) = logs.queries
    assert (query["startTime"], query["endTime"]) == (BEGIN.timestamp(), END.timestamp())
    assert query["queryString"].startswith('filter fleet = "frontier"\n')


@pytest.mark.parametrize(
    ("logs", "why"),
    [
        (Insights(error=client_error("LimitExceededException", "StartQuery")), "failed: .*LimitExceeded"),
        (Insights(status="Failed"), "ended as Failed"),
        (Insights(polls=1000), "took longer than 60 s"),
    ],
)
def test_a_log_that_does_not_answer_is_not_a_block_without_use(logs: Insights, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        NodeLogUsage(shaped("logs", logs), "g", FakeTicker()).minutes("frontier", BEGIN, END)
    assert logs.stopped == (1 if "longer" in why else 0)


@pytest.mark.parametrize(
    ("counted_usd", "subject", "line"),
    [
        # Half of what agents counted was wasted, and half of the 1,700 dollars were paid for this one of two nodes.
        (
            1440.0,
            "frontier: Capacity Block cr-1 is over; $425.00 (Capacity Block fee, {day}) were wasted",
            "Wasted: $425.00; not measured: $850.00; both at what was paid",
        ),
        (
            0.0,
            "frontier: Capacity Block cr-1 is over",
            "Wasted: not known, the agents have no price; not measured: $850.00; both at what was paid",
        ),
    ],
)
def test_a_post_mortem_tells_the_wasted_share_of_what_was_paid(counted_usd: float, subject: str, line: str) -> None:
    request = block_world.request(BEGIN, 24)
    over = Block("cr-1", "frontier", 2, BEGIN, END, is_delivered=False)
    measured = NodeMinutes("i-1", 1440, 1440, 50.0, counted_usd / 2, counted_usd)

    told, body = reports.post_mortem(request, over, [request.offering], [measured])

    assert told == subject.format(day=f"{request.requested_at:%Y-%m-%d}")
    assert line in body.splitlines()


def test_a_proposal_to_extend_says_how_it_is_bought_and_until_when() -> None:
    lives = Block("cr-1", "frontier", 2, BEGIN, END, is_delivered=True)
    offer = replace(
        block_world.request(BEGIN, 24).offering, offering_id="cbe-1", start=END, end=END + timedelta(days=1)
    )

    _, body = reports.extension(lives, [offer], BEGIN)

    first, how = body.splitlines()
    # 1,700 dollars for 2 x 24 instance-hours.
    fee = f"$1,700.00 (extension fee, {BEGIN:%Y-%m-%d})"
    assert first == f"until {END + timedelta(days=1):%Y-%m-%d %H:%M} UTC: {fee}, $35.42 an instance-hour (cbe-1)"
    assert f"until {END - timedelta(hours=1):%Y-%m-%d %H:%M} UTC" in how
    assert "purchase-capacity-block-extension --capacity-reservation-id cr-1 " in how
    assert reports.extension(lives, [], BEGIN)[1] == "EC2 offers no extension now."
