"""What idle, lost and crash-looping jobs cost: of a shared node their own part, and lost ones all of their price."""

from datetime import timedelta

import pytest

from fleet.alarm_page import EvidenceKind
from lambdas.pager.evidence import Evidence, collect
from lambdas.pager.job_events import of_crash_loops, of_idle_jobs, of_lost_jobs
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


STARTS = {"state": "STARTUP", "wasted_usd_per_hour": None, "tensor_engine_utilization": None}
AWAY = {"state": "NO_JOB", "job": None, "job_name": None, "owner": "fleet-owner", "wasted_usd_per_hour": 21.5}
LOOP = {"job": "llama-8", "job_name": "llama", "owner": "ada", "cost_usd_per_hour": 21.5, "vain_runs": 3}
CRASHES = STARTS | {"jobs": [LOOP]}


def looping(*events: dict[str, object]) -> Evidence:
    return collect(of_crash_loops(parsed(*events)), EvidenceKind.CRASH_LOOPS, AT)


def test_a_job_that_starts_in_vain_is_named_between_two_starts_too_and_all_it_cost_since_is_lost() -> None:
    found = looping(
        *history("i-a", {40: BUSY, 20: AWAY, 18: STARTS, 12: AWAY, 10: CRASHES, 3: AWAY}), *history("i-b", {40: BUSY})
    )

    assert [node.last.node for node in found.nodes] == ["i-a"]
    assert found.jobs == (("llama (llama-8)", "ada"),)
    assert found.began == AT - timedelta(minutes=20)
    assert found.usd_per_hour == 21.5
    assert found.usd_since == pytest.approx(21.5 * 20 / 60)


def test_another_job_that_came_to_the_node_is_not_taken_for_it() -> None:
    found = looping(*history("i-a", {20: CRASHES, 6: BUSY | OTHER}))

    assert found.usd_per_hour == 1.0


def test_where_no_job_starts_in_vain_all_nodes_are_shown() -> None:
    assert len(looping(*history("i-a", {9: STARTS}), *history("i-b", {9: BUSY})).nodes) == 2
