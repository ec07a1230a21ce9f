"""What a person reads when a fleet lacks capacity, or pays for some that nobody uses."""

from typing import Any

import pytest

from lambdas.pager.messages import Severity
from tests.support.aws_fakes import client_error
from tests.support.pager import Pager, alarm_change, capacity_event, node_event, ok

NOTHING = {"reserved": 0, "used": 0, "unused": 0, "missing": 16}


def ticket(*events: dict[str, Any], key: str = "CapacityMissing", fleet: str = "trn1-pretrain") -> Pager:
    pager = Pager().seen(*events)
    change = alarm_change(AlarmName=f"prod/{fleet}/{key}")
    pager.handle(change, Severity.TICKET)
    return pager


def text(pager: Pager) -> str:
    return "\n".join(block["text"]["text"] for block in pager.inbox.slack[0]["blocks"])


def test_a_reservation_that_ec2_could_not_provide_says_so_in_ec2s_words() -> None:
    reason = (
        "stack neuron-fleet-prod-reservation-trn1-pretrain is ROLLBACK_COMPLETE: Resource handler returned message: "
        '"We currently do not have sufficient trn1.32xlarge capacity in the Availability Zone you requested '
        '(us-east-2c). (Service: Ec2, Status Code: 500, Request ID: 5d3c)" (HandlerErrorCode: InsufficientCapacity)'
    )
    action = "deploy the stack again later, or take another zone, fewer nodes or a Capacity Block"

    told = text(ticket(capacity_event(1, **NOTHING, reason=reason, action=action)))

    assert "TICKET prod/trn1-pretrain: Capacity missing since 2026-11-21 03:40 UTC" in told
    assert f"*Why:* {reason}" in told
    assert "*Capacity:* 16 nodes wanted, 16 missing, 0 reserved, 0 used, 0 unused, at 03:40 UTC" in told
    assert "(reservation trn1.32xlarge)" in told
    assert "*Owner:* foundation-models" in told
    assert f"*What to do first*\n{action}" in told
    assert "missing here" not in told


def test_an_expired_reservation_names_itself_and_its_end() -> None:
    reservation = {"id": "cr-0aa1", "state": "expired", "total": 16, "available": 0, "ends_at": "2026-11-21T00:00:00Z"}
    reason = "reservation cr-0aa1 is expired, since 2026-11-21 00:00 UTC"

    told = text(ticket(capacity_event(1, **NOTHING, reason=reason, reservations=[reservation])))

    assert f"*Why:* {reason}" in told
    assert "• cr-0aa1: expired, 16 instances, 0 available, until 2026-11-21 00:00 UTC" in told
    # Nothing to do was said with the reason: what the alarm says holds.
    assert "*What to do first*\nDo what the newest capacity event says;" in told


def test_a_block_that_is_over_says_when_it_ended() -> None:
    event = capacity_event(
        1,
        fleet="trn2-frontier",
        market="capacity-block",
        instance_type="trn2.48xlarge",
        wanted=8,
        reserved=0,
        used=0,
        unused=0,
        missing=8,
        reason="Capacity Block cr-0a1b ended at 2026-11-20 11:30 UTC",
        action="buy a block (`fleet capacity search`), then name its reservation in the environment file",
    )

    told = text(ticket(event, fleet="trn2-frontier"))

    assert "*Why:* Capacity Block cr-0a1b ended at 2026-11-20 11:30 UTC" in told
    assert (
        "8 nodes wanted, 8 missing, 0 reserved, 0 used, 0 unused, at 03:40 UTC (capacity-block trn2.48xlarge)" in told
    )
    assert "buy a block (`fleet capacity search`)" in told


def test_an_auto_scaling_group_without_capacity_quotes_its_activity() -> None:
    reason = (
        "Auto Scaling says: Launching a new EC2 instance. Status Reason: We currently do not have sufficient "
        "inf2.48xlarge capacity in the Availability Zone you requested (us-east-2a). Launching EC2 instance failed."
    )
    event = capacity_event(1, fleet="inf2-chat", market="on-demand", wanted=4, missing=3, reason=reason)
    for figure in ("reserved", "used", "unused", "unused_usd_per_hour"):
        del event[figure]

    told = text(ticket(event, fleet="inf2-chat"))

    assert f"*Why:* {reason}" in told
    # What has no meaning for an on-demand fleet is left out, and is not zero.
    assert "*Capacity:* 4 nodes wanted, 3 missing, at 03:40 UTC" in told
    assert "Money" not in told


def test_unused_instances_are_priced_by_the_hour_and_since_they_are_unused() -> None:
    unused = {"used": 13, "unused": 3, "unused_usd_per_hour": 64.5}
    events = [capacity_event(ago, **(unused if ago <= 30 else {})) for ago in range(40, 0, -1)]

    told = text(ticket(*events, key="ReservationUnused"))

    # 3 x 21.50 = 64.50 an hour, for 30 minutes: 32.25.
    assert "*Money:* $64.50 an hour unused, $32.25 since 2026-11-21 03:11 UTC" in told
    assert "($21.50 per node-hour, on-demand, AWS price list, as of 2026-11-01)" in told
    assert "Reservation unused since 2026-11-21 03:11 UTC" in told


def test_unused_instances_without_a_price_are_still_counted() -> None:
    event = capacity_event(1, used=13, unused=3)
    del event["price"], event["unused_usd_per_hour"]

    assert "*Money:* 3 instances unused, at a price that is not known" in text(ticket(event, key="ReservationUnused"))


def test_a_stale_price_is_named_with_its_age() -> None:
    price = {"usd_per_hour": 2.15, "kind": "spot", "source": "AWS API", "as_of": "2026-10-03"}
    old = capacity_event(1, missing=0, price=price, price_stale="49 days old, limit 3", reason="something else")

    told = text(ticket(old, key="PriceStale"))

    assert "*Why:* $2.15 per node-hour, spot, AWS API, as of 2026-10-03, STALE: 49 days old, limit 3" in told


def test_a_price_that_nobody_knows_is_named_so() -> None:
    event = capacity_event(1, missing=0, price_stale="no price is known")
    del event["price"]

    assert "*Why:* no price is known" in text(ticket(event, key="PriceStale"))


def test_unused_instances_of_several_prices_say_so() -> None:
    event = capacity_event(1, used=10, unused=6, unused_usd_per_hour=48.375)
    del event["price"]

    told = text(ticket(event, key="ReservationUnused"))

    assert "*Money:* $48.38 an hour unused, $0.81 since 2026-11-21 03:40 UTC (reservation prices of several " in told


def test_a_minute_that_was_written_twice_costs_once() -> None:
    unused = {"used": 13, "unused": 3, "unused_usd_per_hour": 60.0}

    told = text(ticket(*[capacity_event(ago, **unused) for ago in (2, 1, 1, 1)], key="ReservationUnused"))

    assert "$60.00 an hour unused, $2.00 since" in told


def test_the_newest_words_are_told_when_the_newest_minute_has_none() -> None:
    told = text(
        ticket(capacity_event(2, **NOTHING, reason="reservation cr-0aa1 is failed"), capacity_event(1, **NOTHING))
    )

    assert "*Why:* reservation cr-0aa1 is failed" in told
    assert "at 03:40 UTC" in told


def test_words_about_a_shortage_that_is_over_are_not_told_of_the_next_one() -> None:
    over = capacity_event(30, **NOTHING, reason="reservation cr-0aa1 is failed", action="deploy it again")
    events = [over, *[capacity_event(ago) for ago in range(29, 3, -1)]]

    told = text(ticket(*events, *[capacity_event(ago, **NOTHING) for ago in (3, 2, 1)]))

    assert "cr-0aa1" not in told
    assert "deploy it again" not in told
    assert "Capacity missing since 2026-11-21 03:38 UTC" in told


def test_the_end_of_a_block_tells_the_end_and_what_its_own_alarm_says_to_do() -> None:
    block = {"id": "cr-0a1b", "state": "active", "total": 8, "available": 0, "ends_at": "2026-11-22T03:40:00Z"}
    event = capacity_event(
        1, market="capacity-block", reason="2 nodes run outside", action="replace them", reservations=[block]
    )

    told = text(ticket(event, key="CapacityBlockEnding"))

    assert "• cr-0a1b: active, 8 instances, 0 available, until 2026-11-22 03:40 UTC" in told
    assert "replace them" not in told
    assert "*Why:*" not in told


def test_a_spot_interruption_tells_what_ec2_takes_back() -> None:
    reason = "EC2 takes back i-0aa1, i-0bb2 (Spot)"
    events = [capacity_event(2, market="spot", reason=reason), capacity_event(1, market="spot")]

    assert f"*Why:* {reason}" in text(ticket(*events, key="SpotInterruption"))


def test_a_spot_interruption_is_told_by_the_one_look_that_the_warning_caused() -> None:
    reason = "EC2 takes back i-0aa1 (Spot)"
    later = capacity_event(1, market="spot", missing=1, reason="Auto Scaling says: no Spot capacity")
    # Newest first, as the log answers. The clock's own look of that minute came before, and knew nothing.
    events = [later, capacity_event(2, market="spot", reason=reason, interrupted=["i-0aa1"]), capacity_event(2)]

    assert f"*Why:* {reason}\n" in text(ticket(*events, key="SpotInterruption"))


def test_of_two_looks_in_a_minute_the_last_one_counts() -> None:
    last = capacity_event(1, **NOTHING, reason="reservation cr-0aa1 is failed")

    told = text(ticket(last, capacity_event(1, **{**NOTHING, "missing": 0})))

    assert "16 missing" in told
    assert "*Why:* reservation cr-0aa1 is failed" in told


def test_the_capacity_log_and_not_the_nodes_log_is_asked() -> None:
    pager = ticket(capacity_event(1, **NOTHING))

    [query] = pager.logs.queries
    assert query["logGroupName"] == "/neuron-fleet/prod/capacity"
    assert query["endTime"] - query["startTime"] == 45 * 60
    assert query["queryString"].startswith(
        'fields @timestamp, @message | filter fleet = "trn1-pretrain" and kind = "capacity" | sort @timestamp desc'
    )
    assert "neuron-fleet-prod-capacity-and-cost" in text(pager)
    assert "prod*2Fcapacity" in text(pager)


@pytest.mark.parametrize(
    ("logs", "problem"),
    [
        # The watch, which makes the group, is deployed after the pager.
        ({"error": client_error("ResourceNotFoundException", "StartQuery")}, "failed (ResourceNotFoundException)"),
        ({"final_status": "Failed"}, "ended as Failed"),
        ({"polls": 1000}, "took longer than 5 s"),
        ({"messages": []}, "the capacity watch wrote nothing of the fleet in the last 45 minutes"),
        ({"messages": ["START RequestId", "{}", '{"kind": "capacity"}']}, "the capacity watch wrote nothing"),
    ],
)
def test_the_bare_ticket_goes_out_when_the_log_does_not_answer(logs: dict[str, object], problem: str) -> None:
    pager = Pager()
    for name, setting in logs.items():
        setattr(pager.logs, name, setting)

    outcome = pager.handle(alarm_change(AlarmName="prod/trn1-pretrain/CapacityMissing"), Severity.TICKET)

    assert outcome.sent == ("slack",)
    assert problem in text(pager)
    assert "The fleet cannot get the nodes that it should have." in text(pager)
    assert pager.ticker.now <= 5.0


def test_fields_that_came_later_are_no_problem() -> None:
    event = capacity_event(1, **NOTHING, reason="why", schema=1, of_tomorrow={"a": [1]})

    assert "*Why:* why" in text(ticket(event))


def test_words_of_aws_cannot_mention_everybody() -> None:
    told = text(ticket(capacity_event(1, **NOTHING, reason="<!channel> " + "x" * 5000)))

    assert "\u2039!channel\u203a" in told
    assert "x" * 601 not in told


def test_pagerduty_gets_the_why_as_fields() -> None:
    pager = Pager().seen(capacity_event(1, **NOTHING, reason="why", action="deploy it again"))

    pager.handle(alarm_change(AlarmName="prod/trn1-pretrain/CapacityMissing"))

    details = pager.inbox.pagerduty[0]["payload"]["custom_details"]
    assert (details["why"], details["do_first"], details["owner"]) == ("why", "deploy it again", "foundation-models")


def test_capacity_that_came_back_asks_no_log() -> None:
    pager = ticket(capacity_event(1, **NOTHING))

    pager.handle(ok(AlarmName="prod/trn1-pretrain/CapacityMissing"), Severity.TICKET)

    assert pager.inbox.slack[1]["text"] == "RESOLVED prod/trn1-pretrain: Capacity missing after 41 min"
    assert len(pager.logs.queries) == 1


def test_an_alarm_of_the_platform_needs_no_log() -> None:
    pager = Pager().seen(node_event())

    outcome = pager.handle(alarm_change(AlarmName="prod/platform/CapacityWatchSilent"), Severity.TICKET)

    assert pager.inbox.slack[0]["text"].startswith("TICKET prod/platform: Capacity watch silent since ")
    assert pager.logs.queries == []
    assert outcome.page is not None
    assert outcome.page.enrichment_problem is None


def test_a_silent_fleet_shows_the_nodes_that_were_heard_last() -> None:
    pager = Pager().seen(*[node_event("i-gone", ago) for ago in range(30, 16, -1)])

    pager.handle(alarm_change(AlarmName="prod/trn1-pretrain/FleetSilent"))

    assert "• i-gone: trn1.32xlarge, $21.50/h, RUNNING → NO EVENT 03:25" in text(pager)
    assert "$21.50 an hour unwatched" in text(pager)
