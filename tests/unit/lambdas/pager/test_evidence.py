"""What node events say: worst first, since when, how many dollars."""

from datetime import timedelta

import pytest

from fleet.alarm_page import EvidenceKind
from lambdas.pager.evidence import NO_EVENT, Evidence, collect
from tests.support.pager import AT, history, node_event, parsed

WASTE = {"wasted_usd_per_hour": 18.0, "tensor_engine_utilization": 6.0}
GOOD = {"wasted_usd_per_hour": 1.0, "tensor_engine_utilization": 38.0}


def evidence(*events: dict[str, object], kind: EvidenceKind = EvidenceKind.NODES) -> Evidence:
    return collect(parsed(*events), kind, AT)


def test_the_worst_node_comes_first() -> None:
    fault = {"state": "FAULT", "hardware_errors": [{"kind": "dma-abort", "action": "replace", "device": 3}]}

    found = evidence(
        *history("i-good", {20: GOOD}),
        *history("i-waste", {20: GOOD, 12: WASTE}),
        *history("i-blind", {20: GOOD, 5: {"state": "BLIND"}}),
        *history("i-fault", {20: GOOD, 3: fault}),
    )

    assert [node.last.node for node in found.nodes] == ["i-fault", "i-blind", "i-waste", "i-good"]
    assert found.nodes[0].errors[0].kind == "dma-abort"


def test_dollars_count_from_the_minute_when_waste_began() -> None:
    found = evidence(*history("i-a", {20: GOOD, 12: WASTE}), *history("i-b", {20: GOOD, 12: WASTE}))

    assert found.began == AT - timedelta(minutes=12)
    assert found.usd_per_hour == 36.0
    assert found.usd_since is not None
    assert abs(found.usd_since - 36.0 * 12 / 60) < 1e-9


def test_a_twin_event_counts_once() -> None:
    twice = history("i-a", {20: GOOD, 12: WASTE})

    assert evidence(*twice, *twice) == evidence(*twice)


def test_a_counter_that_began_again_makes_no_twins() -> None:
    before, after = node_event("i-a", 3, seq=1), node_event("i-a", 2, seq=1, state="FAULT")

    assert [each.state for each in evidence(before, after).nodes[0].intervals] == ["RUNNING", "FAULT"]


def test_what_was_not_measured_is_not_zero() -> None:
    found = evidence(*history("i-a", {20: {}}))

    assert found.usd_per_hour is None
    assert found.usd_since is None
    assert found.nodes[0].utilization is None


def test_a_faulty_or_blind_node_loses_its_whole_price() -> None:
    found = evidence(
        *history("i-a", {20: GOOD, 4: {"state": "FAULT", "wasted_usd_per_hour": 2.0}}),
        *history("i-b", {20: GOOD, 4: {"state": "BLIND"}}),
    )

    assert found.usd_per_hour == 43.0


def test_a_price_stands_in_for_a_missing_cost() -> None:
    found = evidence(*history("i-a", {20: {"state": "BLIND", "cost_usd_per_hour": None}}))

    assert found.usd_per_hour == 21.5


def test_blindness_is_about_the_silent_nodes_only() -> None:
    gone = [event for event in history("i-gone", {20: GOOD}) if event["minute"] < "2026-11-21T03:31"]

    found = evidence(
        *history("i-well", {20: GOOD}),
        *history("i-blind", {20: GOOD, 6: {"state": "BLIND"}}),
        *gone,
        kind=EvidenceKind.SILENT_NODES,
    )

    assert {node.last.node: node.state for node in found.nodes} == {"i-blind": "BLIND", "i-gone": NO_EVENT}
    assert found.usd_per_hour == 43.0
    assert found.began == AT - timedelta(minutes=10)


def test_a_node_whose_last_minutes_are_not_indexed_yet_is_not_silent() -> None:
    # Written up to three minutes before the alarm: the rest of an evaluation's and a query's delay.
    late = history("i-a", {20: GOOD})[:-3]

    assert evidence(*late).nodes[0].state == "RUNNING"
    assert evidence(*late).usd_per_hour == 1.0


def test_the_timeline_holds_each_change_of_state_once() -> None:
    found = evidence(*history("i-a", {20: {"state": "COMPILING"}, 14: GOOD, 3: {"state": "FAULT"}}))

    assert [(each.state, (AT - each.start).seconds // 60) for each in found.nodes[0].intervals] == [
        ("COMPILING", 20),
        ("RUNNING", 14),
        ("FAULT", 3),
    ]


def test_events_after_the_transition_are_left_out() -> None:
    assert evidence(node_event("i-a", 1), node_event("i-a", -5, state="FAULT")).nodes[0].state == "RUNNING"


def test_jobs_are_named_once_with_their_owner() -> None:
    found = evidence(
        *history("i-a", {5: WASTE}),
        *history("i-b", {5: WASTE}),
        node_event("i-c", job=None, job_name=None, owner=None),
    )

    assert found.jobs == (("llama-pretrain (llama-8)", "foundation-models"), ("no job known", "no owner known"))


@pytest.mark.parametrize(
    ("kind", "state"), [(EvidenceKind.SILENT_NODES, "BLIND"), (EvidenceKind.FAULTY_NODES, "FAULT")]
)
def test_a_fault_began_with_the_state_whatever_was_wasted_before(kind: EvidenceKind, state: str) -> None:
    found = evidence(*history("i-a", {20: WASTE, 3: WASTE | {"state": state}}), kind=kind)

    assert found.began == AT - timedelta(minutes=3)
    assert found.usd_since is not None
    assert abs(found.usd_since - 21.5 * 3 / 60) < 1e-9


def test_of_unused_nodes_only_those_without_a_job_are_shown() -> None:
    free = {"state": "NO_JOB", "job": None, "job_name": None, "wasted_usd_per_hour": 21.5}
    found = evidence(
        *history("i-a", {20: WASTE, 3: free}), *history("i-b", {20: WASTE}), kind=EvidenceKind.UNUSED_NODES
    )

    assert [node.last.node for node in found.nodes] == ["i-a"]
    assert found.began == AT - timedelta(minutes=3)
    assert found.usd_per_hour == 21.5
