"""What idle jobs cost: their own nodes, and of a shared node their own part."""

from fleet.alarm_page import EvidenceKind
from lambdas.pager.evidence import Evidence, collect
from lambdas.pager.job_events import of_idle_jobs
from tests.support.pager import AT, history, parsed

BUSY = {"wasted_usd_per_hour": 1.0, "neuron_core_utilization": 97.0}
IDLE = {"wasted_usd_per_hour": 21.5, "neuron_core_utilization": 0.4, "tensor_engine_utilization": None}


def evidence(*events: dict[str, object]) -> Evidence:
    return collect(of_idle_jobs(parsed(*events)), EvidenceKind.IDLE_JOBS, AT)


def test_only_idle_nodes_are_shown_and_counted() -> None:
    found = evidence(*history("i-a", {20: BUSY, 6: IDLE}), *history("i-b", {20: BUSY}), *history("i-c", {20: BUSY}))

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
    found = evidence(*history("i-a", {9: {"neuron_core_utilization": 71.0, "jobs": jobs}}))

    assert found.usd_per_hour == 5.0
    assert found.jobs == (("notebook (notebook-7)", "applied-research"),)
    assert found.owners == ("applied-research",)


def test_an_empty_or_blind_node_holds_no_idle_job() -> None:
    empty = {"state": "NO_JOB", "job": None, "neuron_core_utilization": 0.0, "wasted_usd_per_hour": 21.5}

    found = evidence(*history("i-a", {6: IDLE}), *history("i-b", {9: empty}))

    assert [node.last.node for node in found.nodes] == ["i-a"]


def test_where_no_job_idles_by_now_all_nodes_are_shown() -> None:
    assert len(evidence(*history("i-a", {9: BUSY}), *history("i-b", {9: BUSY})).nodes) == 2
