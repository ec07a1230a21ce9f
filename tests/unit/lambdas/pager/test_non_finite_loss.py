"""What a loss that is no number costs: all of the job's price, on all of its nodes, from the first report on."""

from datetime import timedelta

import pytest

from fleet.alarm_page import EvidenceKind
from lambdas.pager.evidence import Evidence, collect
from lambdas.pager.job_events import of_lost_jobs
from tests.support.pager import AT, history, parsed

GOOD = {"wasted_usd_per_hour": 1.0, "tensor_engine_utilization": 41.0}
LOST = GOOD | {"jobs": [{"job": "llama-8", "cost_usd_per_hour": 21.5, "non_finite_losses": 3}]}
OTHER = {"job": "eval-3", "owner": "evaluation"}


def evidence(*events: dict[str, object]) -> Evidence:
    return collect(of_lost_jobs(parsed(*events)), EvidenceKind.LOST_JOBS, AT)


def test_one_rank_reports_for_all_nodes_of_its_job() -> None:
    found = evidence(*history("i-a", {20: GOOD, 6: LOST}), *history("i-b", {20: GOOD}), *history("i-c", {20: OTHER}))

    assert [node.last.node for node in found.nodes] == ["i-a", "i-b"]
    assert found.usd_per_hour == 43.0
    assert found.began == AT - timedelta(minutes=6)
    assert found.usd_since == pytest.approx(43.0 * 6 / 60)
    assert found.owners == ("foundation-models",)


def test_it_stays_lost_when_the_reports_end() -> None:
    assert evidence(*history("i-a", {20: GOOD, 6: LOST, 3: GOOD})).usd_per_hour == 21.5


def test_of_a_shared_node_only_the_jobs_own_part_is_lost() -> None:
    both = [
        {"job": "llama-8", "cost_usd_per_hour": 10.0, "wasted_usd_per_hour": 0.5, "non_finite_losses": 1},
        {"job": "eval-3", "cost_usd_per_hour": 11.5, "wasted_usd_per_hour": 2.0},
    ]

    assert evidence(*history("i-a", {9: {"jobs": both}})).usd_per_hour == 12.0


def test_where_no_event_says_whose_loss_it_was_all_nodes_are_shown() -> None:
    found = evidence(*history("i-a", {9: GOOD}), *history("i-b", {9: GOOD}))

    assert len(found.nodes) == 2
    assert found.usd_per_hour == 2.0
