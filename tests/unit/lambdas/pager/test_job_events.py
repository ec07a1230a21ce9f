"""What idle and lost jobs cost: their own nodes, of a shared node their own part, and lost ones all of their price."""

from datetime import timedelta

import pytest

from fleet.alarm_page import EvidenceKind
from lambdas.pager.evidence import Evidence, collect
from lambdas.pager.job_events import of_idle_jobs, of_lost_jobs
from tests.support.pager import AT, history, parsed

BUSY = {"wasted_usd_per_hour": 1.0, "neuron_core_utilization": 97.0}
IDLE = {"wasted_usd_per_hour": 21.5, "neuron_core_utilization": 0.4, "tensor_engine_utilization": None}


def idle(*events: dict[str, object]) -> Evidence:
    return collect(of_idle_jobs(parsed(*events)), EvidenceKind.IDLE_JOBS, AT)


def test_only_idle_nodes_are_shown_and_counted() -> None:
    found = idle(*history("i-a", {20: BUSY, 6: IDLE}), *history("i-b", {20: BUSY}), *history("i-c", {20: BUSY}))

    assert [node.last.node for node in found.nodes] == ["i-a"]
    assert (found.usd_per_hour, found.usd_since) == (21.5, 21.5 * 6 / 60)


def test_of_a_shared_node_the_idle_job_is_named_with_its_own_part() -> None:
    jobs = [
        {"job": "llama-8", "owner": "foundation-models", "neuron_core_utilization": 95.0, "wasted_usd_per_hour": 0.5},
        {
            "job": "notebook-7",
            "job_name": "notebook",
            "owner": "applied-research",
            "neuron_core_utilization": 0.0,
            "wasted_usd_per_hour": 5.0,
        },
    ]
    found = idle(*history("i-a", {9: {"neuron_core_utilization": 71.0, "jobs": jobs}}))

    assert found.usd_per_hour == 5.0
    assert found.jobs == (("notebook (notebook-7)", "applied-research"),)
    assert found.owners == ("applied-research",)


def test_an_empty_or_blind_node_holds_no_idle_job() -> None:
    empty = {"state": "NO_JOB", "job": None, "neuron_core_utilization": 0.0, "wasted_usd_per_hour": 21.5}

    found = idle(*history("i-a", {6: IDLE}), *history("i-b", {9: empty}))

    assert [node.last.node for node in found.nodes] == ["i-a"]


def test_where_no_job_idles_by_now_all_nodes_are_shown() -> None:
    assert len(idle(*history("i-a", {9: BUSY}), *history("i-b", {9: BUSY})).nodes) == 2


GOOD = {"wasted_usd_per_hour": 1.0, "tensor_engine_utilization": 41.0}
LOST = GOOD | {"jobs": [{"job": "llama-8", "cost_usd_per_hour": 21.5, "non_finite_losses": 3}]}
OTHER = {"job": "eval-3", "owner": "evaluation"}


def lost(*events: dict[str, object]) -> Evidence:
    return collect(of_lost_jobs(parsed(*events)), EvidenceKind.LOST_JOBS, AT)


def test_one_rank_reports_for_all_nodes_of_its_job() -> None:
    found = lost(*history("i-a", {20: GOOD, 6: LOST}), *history("i-b", {20: GOOD}), *history("i-c", {20: OTHER}))

    assert [node.last.node for node in found.nodes] == ["i-a", "i-b"]
    assert found.usd_per_hour == 43.0
    assert found.began == AT - timedelta(minutes=6)
    assert found.usd_since == pytest.approx(43.0 * 6 / 60)
    assert found.owners == ("foundation-models",)


def test_it_stays_lost_when_the_reports_end() -> None:
    assert lost(*history("i-a", {20: GOOD, 6: LOST, 3: GOOD})).usd_per_hour == 21.5


def test_of_a_shared_node_only_the_jobs_own_part_is_lost() -> None:
    both = [
        {"job": "llama-8", "cost_usd_per_hour": 10.0, "wasted_usd_per_hour": 0.5, "non_finite_losses": 1},
        {"job": "eval-3", "cost_usd_per_hour": 11.5, "wasted_usd_per_hour": 2.0},
    ]

    assert lost(*history("i-a", {9: {"jobs": both}})).usd_per_hour == 12.0


def test_where_no_event_says_whose_loss_it_was_all_nodes_are_shown() -> None:
    found = lost(*history("i-a", {9: GOOD}), *history("i-b", {9: GOOD}))

    assert len(found.nodes) == 2
    assert found.usd_per_hour == 2.0
