"""From what AWS showed to what a person reads: the watch's event, the alarm, the logs' queries, the pager's words."""

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from fleet.alarms import AlarmSettings, AlarmSpec, fleet_alarms
from fleet.reserved.assessment import assess
from fleet.reserved.observed import Activity, FleetDeployment, Seen, Stack
from lambdas.capacity_watch import events, service
from lambdas.pager import enrichment
from lambdas.pager.log_events import CapacityEvent
from lambdas.pager.messages import Severity
from local.alarm_evaluation import State
from local.emulator.logs.events import Event
from local.emulator.logs.insights import run
from local.emulator.logs.insights_syntax import parse
from tests.support.alarm_minutes import states
from tests.support.alarm_pages import RUNBOOKS_URL
from tests.support.pager import Pager, alarm_change
from tests.support.watched_capacity import (
    LONG_AGO,
    NOW,
    batch,
    block,
    block_place,
    endpoint,
    group,
    job,
    named,
    place,
    reservation,
)
from tests.support.watching import dashboards, watched

ICE = (
    "We currently do not have sufficient trn1.32xlarge capacity in the Availability Zone you requested (us-east-2c). "
    "(Service: Ec2, Status Code: 500, Request ID: 5d3c)"
)
AUTO_SCALING = (
    "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient "
    "inf2.48xlarge capacity in the Availability Zone you requested (us-east-2a). Launching EC2 instance failed."
)
OVER = datetime.fromisoformat("2026-11-20T11:30:00Z")
# What ended as planned is missed when a job waits for it.
SHORTAGES = {
    "reservation stack": (place(), Seen(stack=Stack(exists=True, failure=ICE)), ICE),
    "expired reservation": (
        named(),
        Seen(reservations=(reservation(state="expired", ends_at=LONG_AGO),), batch=batch(job())),
        "cr-1",
    ),
    "block that is over": (
        block_place(ends_at=OVER),
        Seen(reservations=(block(state="expired", ends_at=OVER),), batch=batch(job(count=8))),
        "2026-11-20 11:30",
    ),
    "auto scaling": (
        endpoint(),
        Seen(group=group(1, Activity(NOW - timedelta(minutes=1), is_over=True, has_failed=True, words=AUTO_SCALING))),
        AUTO_SCALING,
    ),
}
CASES = pytest.mark.parametrize(("where", "seen", "words"), SHORTAGES.values(), ids=SHORTAGES)


def emitted(where: FleetDeployment, seen: Seen, at: datetime = NOW) -> dict[str, Any]:
    """The event that the watch writes, through JSON and back."""
    look = service.Look(where, seen.reservations, assess(where, seen, at))
    event: dict[str, Any] = json.loads(json.dumps(events.event(look, at)))
    return event


def missing_alarm(where: FleetDeployment) -> AlarmSpec:
    purpose = "inference" if where.auto_scaling_group else "training"
    settings = AlarmSettings(
        environment=where.environment,
        fleet=where.fleet,
        purpose="inference" if purpose == "inference" else "training",
        market=where.market,
        nodes=where.nodes,
    )
    (found,) = (alarm for alarm in fleet_alarms(settings) if alarm.key == "CapacityMissing")
    assert isinstance(found, AlarmSpec)
    return found


@CASES
def test_the_ticket_says_why_there_is_no_capacity(where: FleetDeployment, seen: Seen, words: str) -> None:
    event = emitted(where, seen)
    alarm = missing_alarm(where)

    assert states(alarm, [event] * 3, before=State.OK)[-1] is State.ALARM
    page = alarm.page(RUNBOOKS_URL)
    pager = Pager(alarms={alarm.name: page}).seen(event)
    pager.handle(
        alarm_change(
            AlarmName=alarm.name,
            AlarmDescription=page.description,
            StateChangeTime="2026-11-21T10:06:10.000+0000",
        ),
        Severity.TICKET,
    )

    told = "\n".join(block["text"]["text"] for block in pager.inbox.slack[0]["blocks"])
    [why] = re.findall(r"\*Why:\* (.*)", told)
    assert words in why
    assert event["action"] in told
    assert f"{event['missing']} missing" in told


@CASES
def test_the_pager_understands_every_field_that_it_reads(where: FleetDeployment, seen: Seen, words: str) -> None:
    event = emitted(where, seen)
    read = CapacityEvent.model_validate(event)

    written = set(event) & set(CapacityEvent.model_fields)
    assert {name for name in written if getattr(read, name) is None} == set()
    assert words in (read.reason or "")


@CASES
def test_the_queries_of_pager_and_dashboard_find_the_event(where: FleetDeployment, seen: Seen, words: str) -> None:
    at = int(NOW.timestamp()) * 1000
    stored = [Event(at, json.dumps(emitted(where, seen)), "capacity", "stream"), Event(at, "START RequestId", "", "")]
    (widget,) = (
        each
        for each in dashboards(watched("prod"))["capacity-and-cost"]["widgets"]
        if each["properties"].get("title") == "Why nodes are missing"
    )

    change = alarm_change(AlarmName=f"prod/{where.fleet}/CapacityMissing", NewStateValue="OK")
    asked = enrichment.enrich(missing_alarm(where).page(RUNBOOKS_URL), change, Pager().dependencies().sources)
    (found,) = run(parse(asked.query or ""), stored).rows
    (shown,) = run(parse(widget["properties"]["query"].partition("|")[2]), stored).rows

    assert json.loads(found["@message"])["kind"] == "capacity"
    assert words in shown["why"]
    assert shown["nodes"] == str(emitted(where, seen)["missing"])
