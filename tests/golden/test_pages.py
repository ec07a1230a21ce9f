"""Every page that wakes somebody, word for word, as it reads on each destination: reviewed by whoever is on call.

After a change that is meant: ``pytest tests/golden --snapshot-update``, and read the difference as one who was asleep.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet import naming
from tests.golden.page_cases import INCIDENTS, Incident, pager, waking_alarms
from tests.support.pager import ENVIRON, ROUTING_KEY, Pager, alarm_change

PAGES = Path(__file__).parent / "pages"
CASES = {incident.key: incident for incident in INCIDENTS}
# Alarms of a fleet whose nodes are losing money; the others tell of requests, or of the platform's own machinery.
OF_NODES = {
    "LowUtilization", "IdleAllocated", "NodesWithoutJob", "CrashLoop", "JobHang", "NonFiniteLoss", "HardwareFault",
    "FleetBlind", "FleetSilent",
}  # fmt: skip


def told(incident: Incident) -> Pager:
    alarm = waking_alarms()[incident.key]
    made = pager(incident)
    made.handle(
        alarm_change(
            AlarmName=alarm.name,
            AlarmArn=f"arn:aws:cloudwatch:us-east-2:111122223333:alarm:{alarm.name}",
            AlarmDescription=alarm.description(ENVIRON["RUNBOOKS_URL"]),
            NewStateReason=incident.reason,
        )
    )
    return made


def written(made: Pager) -> str:
    """All of it: what PagerDuty shows, what Slack shows, what is mailed."""
    (event,), (message,), ((_, subject, body),) = made.inbox.pagerduty, made.inbox.slack, made.inbox.mails
    return "\n".join(
        [
            "=== PagerDuty",
            json.dumps(event, indent=2, ensure_ascii=False).replace(ROUTING_KEY, "(the routing key)"),
            "=== Slack",
            *(_block(block) for block in message["blocks"]),
            "=== E-mail",
            f"Subject: {subject}",
            "",
            body,
            "",
        ]
    )


def _block(block: Mapping[str, Any]) -> str:
    text = str(block["text"]["text"])
    return f"# {text}" if block["type"] == "header" else text


def test_every_alarm_that_wakes_somebody_has_its_page() -> None:
    assert CASES.keys() == waking_alarms().keys()
    assert {path.stem for path in PAGES.glob("*.txt")} == CASES.keys()


@pytest.mark.parametrize("key", sorted(CASES))
def test_the_page_reads_as_reviewed(key: str, pytestconfig: pytest.Config) -> None:
    text, file = written(told(CASES[key])), PAGES / f"{key}.txt"
    if pytestconfig.getoption("update_snapshots"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("key", sorted(CASES))
def test_whoever_was_asleep_can_act(key: str) -> None:
    (event,) = told(CASES[key]).inbox.pagerduty
    details, links = event["payload"]["custom_details"], {link["text"] for link in event["links"]}

    assert {"what", "do_first", "first_command", "changes", "runbook", "numbers"} <= details.keys()
    assert "Runbook" in links
    assert "prod/" in event["payload"]["summary"]
    assert " since 2026-11-21 03:" in event["payload"]["summary"]
    if key in OF_NODES:
        assert "owner" in details["job"]
        assert "an hour" in details["money"]
        assert " since 2026-11-21 03:" in details["money"]
        assert details["nodes"][0].startswith("i-")
        assert "Log query" in links


def test_alarms_of_nodes_are_those_of_fleets() -> None:
    subjects = {key: alarm.subject for key, alarm in waking_alarms().items()}

    assert {key for key, subject in subjects.items() if subject != naming.PLATFORM} - OF_NODES == {
        "EndpointErrors", "EndpointLatencyP99", "NoHealthyTargets",
    }  # fmt: skip
