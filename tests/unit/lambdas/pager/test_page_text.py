"""What a person reads."""

import json
import time
from typing import Any

import pytest

from lambdas.pager import enrichment
from lambdas.pager.destinations.pagerduty import EVENTS_URL
from tests.support.pager import ENVIRON, Pager, alarm_change, history, node_event

WASTE = {"wasted_usd_per_hour": 18.0, "tensor_engine_utilization": 6.4}
GOOD = {"wasted_usd_per_hour": 1.0, "tensor_engine_utilization": 38.0}


def paged(shape: str, *events: dict[str, Any], **changes: Any) -> Pager:
    pager = Pager().seen(*events)
    pager.handle(alarm_change(shape, **changes))
    return pager


def slack_text(pager: Pager) -> str:
    return "\n".join(block["text"]["text"] for block in pager.inbox.slack[0]["blocks"])


def test_a_low_utilization_page_says_who_where_and_how_many_dollars() -> None:
    pager = paged(
        "composite", *history("i-a", {20: GOOD, 12: WASTE}), *history("i-b", {20: GOOD, 12: WASTE | {"job": "other"}})
    )

    text = slack_text(pager)
    assert "PAGE prod/trn1-pretrain: Low utilization since 2026-11-21 03:29 UTC" in text
    assert "llama-pretrain (llama-8), owner foundation-models; llama-pretrain (other)" in text
    assert "$36.00 an hour wasted, $7.20 since 2026-11-21 03:29 UTC" in text
    assert "($21.50 per node-hour, on-demand, AWS price list, as of 2026-11-01)" in text
    assert "• i-a: trn1.32xlarge, tensor engines 6 %, $18.00/h, RUNNING" in text
    # The child alarm by its name: an ARN is noise to somebody who has just been woken.
    assert "*Numbers:* prod/trn1-pretrain/WasteAboveThreshold transitioned to ALARM" in text
    assert "*What to do first*\nOn the worst nodes look for a starved input pipeline first," in text
    assert "<https://runbooks.test/docs/runbooks/LowUtilization.md|Runbook>" in text


def test_pagerduty_gets_the_same_facts_as_fields() -> None:
    pager = paged("composite", *history("i-a", {20: GOOD, 12: WASTE}))

    url, event = pager.inbox.posts[0]
    details = event["payload"]["custom_details"]
    assert url == EVENTS_URL
    assert event["event_action"] == "trigger"
    assert event["dedup_key"] == f"{alarm_change('composite').arn}#2026-11-21T03:41:12.900Z"
    assert event["payload"]["severity"] == "critical"
    assert event["payload"]["timestamp"] == "2026-11-21T03:41:12.900+00:00"
    assert details["job"] == "llama-pretrain (llama-8), owner foundation-models"
    assert details["money"].startswith("$18.00 an hour wasted, $3.60 since")
    assert details["nodes"] == ["i-a: trn1.32xlarge, tensor engines 6 %, $18.00/h, RUNNING"]
    assert details["what"] == "A running job uses too little of the accelerators that it pays for."
    assert details["do_first"].startswith("On the worst nodes look for a starved input pipeline first,")


def test_the_words_of_an_alarm_that_was_deployed_before_are_not_mixed_with_those_of_now() -> None:
    pager = paged("composite", node_event(), AlarmDescription="Utilization is below 15 %. Ask Kim.")

    details = pager.inbox.pagerduty[0]["payload"]["custom_details"]
    assert (details["what"], details["do_first"]) == ("Utilization is below 15 %. Ask Kim.", "Open the runbook.")
    assert "Low utilization since" in pager.inbox.slack[0]["text"]
    assert details["nodes"][0].startswith("i-")


def test_an_operators_own_alarm_is_told_of_in_its_own_words_beside_the_fleets_nodes() -> None:
    pager = paged(
        "metric",
        node_event("i-a"),
        AlarmName="prod/trn1-pretrain/QueueDepth",
        AlarmDescription="Ask Kim. See https://k",
    )

    details = pager.inbox.pagerduty[0]["payload"]["custom_details"]
    assert pager.inbox.slack[0]["text"].startswith("PAGE prod/trn1-pretrain: QueueDepth since ")
    assert (details["what"], details["do_first"]) == ("Ask Kim. See https://k", "Open the runbook.")
    assert details["nodes"][0].startswith("i-")


def test_a_hardware_page_names_node_error_and_action() -> None:
    reboot = {"kind": "execution-hardware", "action": "reboot"}
    error = {"kind": "sram-uncorrectable", "action": "replace", "device": 7}

    text = slack_text(
        paged(
            "metric_math",
            *history("i-ok", {20: GOOD}),
            *history("i-bad", {20: GOOD, 2: {"state": "FAULT", "hardware_errors": [reboot, error]}}),
        )
    )

    # One node and one thing to do: the stronger of two actions, and no healthy node that could be drained by mistake.
    assert "sram-uncorrectable on device 7 and execution-hardware: replace the node, RUNNING → FAULT 03:39" in text
    assert "i-ok" not in text


def test_a_node_that_waits_for_a_broken_peer_is_not_to_be_replaced() -> None:
    error = {"kind": "hang-on-collectives", "action": "look-at-peers"}

    text = slack_text(
        paged("metric_math", *history("i-a", {20: GOOD, 2: {"state": "FAULT", "hardware_errors": [error]}}))
    )

    assert "hang-on-collectives: look at the node's peers, RUNNING → FAULT" in text


def test_a_blind_fleet_page_names_the_silent_nodes_and_what_they_cost() -> None:
    name = "prod/trn1-pretrain/FleetBlind"
    gone = [event for event in history("i-gone", {20: GOOD}) if event["minute"] < "2026-11-21T03:31"]

    text = slack_text(paged("metric", *history("i-ok", {20: GOOD}), *gone, AlarmName=name))

    assert "• i-gone: trn1.32xlarge, $21.50/h, RUNNING → NO EVENT 03:31" in text
    assert "i-ok" not in text
    # Unseen is not wasted.
    assert "$21.50 an hour unwatched, $3.58 since 2026-11-21 03:31 UTC" in text
    assert "wasted" not in text


def test_a_blind_node_says_why_it_is_blind() -> None:
    blind = {"state": "BLIND", "state_reason": "neuron-monitor ended with code -9"}

    text = slack_text(paged("metric", *history("i-a", {20: GOOD, 4: blind}), AlarmName="prod/trn1-pretrain/NodeBlind"))

    assert "RUNNING → BLIND 03:37 (neuron-monitor ended with code -9)" in text
    assert "$21.50 an hour unwatched" in text


def test_many_nodes_are_cut_with_a_count_and_every_text_fits_slack() -> None:
    events = [event for i in range(60) for event in history(f"i-{i:017x}", {20: GOOD, 9: WASTE})]

    pager = paged("composite", *events)

    assert "and 55 more" in slack_text(pager)
    assert all(len(block["text"]["text"]) <= 3000 for block in pager.inbox.slack[0]["blocks"])
    assert len(json.dumps(pager.inbox.pagerduty[0])) < 512_000


def test_texts_of_any_length_fit_both_destinations() -> None:
    name = "prod/" + "f" * 1_500 + "/IdleAllocated"
    event = node_event(job_name="j" * 5_000, fleet="f" * 1_500, wasted_usd_per_hour=9.0)

    pager = paged("metric", event, AlarmName=name, NewStateReason="r" * 1_023)

    assert all(len(block["text"]["text"]) <= 3000 for block in pager.inbox.slack[0]["blocks"])
    assert len(pager.inbox.slack[0]["blocks"]) <= 50
    assert len(pager.inbox.pagerduty[0]["payload"]["summary"]) <= 1024
    assert len(json.dumps(pager.inbox.pagerduty[0])) < 512_000


def test_what_nodes_say_cannot_mention_a_channel() -> None:
    text = slack_text(paged("metric", node_event(job_name="<!channel> & co")))

    assert "\u2039!channel\u203a &amp; co" in text
    assert "<!channel>" not in text


@pytest.mark.parametrize("field", ["dashboard", "log_query"])
def test_links_cover_the_time_of_the_incident(field: str) -> None:
    pager = Pager().seen(node_event())
    page = pager.handle(alarm_change()).page

    assert page is not None
    url = str(getattr(page.links, field))
    assert url.startswith("https://us-east-2.console.aws.amazon.com/cloudwatch/home?region=us-east-2#")
    for moment in ("2026-11-21T02:41:12.000Z", "2026-11-21T03:56:12.000Z"):
        assert moment in url.replace("*3A", ":")
    assert "<" not in url
    assert "|" not in url


@pytest.mark.parametrize(
    ("alarm", "audience"),
    [
        ("prod/inf2-chat/HardwareFault", "endpoint-inf2-chat"),
        ("prod/inf2-chat/CapacityMissing", "capacity-and-cost"),
        ("prod/trn1-pretrain/HardwareFault", "operator"),
        ("prod/inf2-chat-small/HardwareFault", "operator"),
    ],
)
def test_a_page_about_an_endpoint_leads_to_its_own_dashboard_where_it_has_one(alarm: str, audience: str) -> None:
    pager = Pager(environ={**ENVIRON, "ENDPOINT_DASHBOARDS": '["inf2-chat"]'}).seen(node_event())
    page = pager.handle(alarm_change(AlarmName=alarm)).page

    assert page is not None
    assert f"#dashboards:name=neuron-fleet-prod-{audience};" in page.links.dashboard


def test_a_fleet_that_wastes_nothing_is_said_no_dollars_of() -> None:
    pager = paged("composite", *history("i-a", {9: GOOD | {"wasted_usd_per_hour": 0.0}}))

    details = pager.inbox.pagerduty[0]["payload"]["custom_details"]
    assert details["nodes"] == ["i-a: trn1.32xlarge, tensor engines 38 %, $0.00/h, RUNNING"]
    assert "money" not in details


def test_a_log_that_hangs_is_left_behind_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrichment, "BUDGET", 0.05)
    pager = Pager().seen(*history("i-a", {20: WASTE}))
    monkeypatch.setattr(pager.logs, "get_query_results", lambda **_: time.sleep(2))
    pager.handle(alarm_change("composite"))

    assert "it is missing here: AWS did not answer within 0.05 s" in slack_text(pager)


@pytest.mark.parametrize(("node", "is_typed"), [("i-0ab1", True), ("laptop-7", False)])
def test_a_session_is_opened_on_an_instance_and_on_nothing_else(node: str, is_typed: bool) -> None:
    text = slack_text(paged("composite", *history(node, {20: GOOD, 12: WASTE})))

    assert (f"aws ssm start-session --region us-east-2 --target {node}" in text) is is_typed
