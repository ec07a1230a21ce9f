"""Hundreds and thousands of nodes: the query sums up, as Logs Insights would, and the page is right to the dollar."""

import json
import re
import time
from datetime import timedelta
from typing import Any

import pytest

from lambdas.pager.enrichment import within
from lambdas.pager.errors import EnrichmentError
from lambdas.pager.log_events import states_query
from local.emulator.logs.events import Event
from local.emulator.logs.insights import run
from local.emulator.logs.insights_syntax import parse
from tests.support.pager import AT, Pager, alarm_change, history

# Of the shape of the large ones, which are for the long tests.
EACH = pytest.mark.parametrize("nodes", [200, pytest.param(2000, marks=pytest.mark.soak)])
GOOD = {"job": "chat-3", "job_name": "chat", "owner": "chat", "wasted_usd_per_hour": 0.1}
BAD = {"wasted_usd_per_hour": 18.0, "tensor_engine_utilization": 6.4}


class Insights:
    """Logs Insights over events, by the engine of the embedded AWS."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._events = [
            Event(int(1000 * _seconds(event)), json.dumps(event), "g", "s", f"p{index}")
            for index, event in enumerate(events)
        ]
        self._rows: list[dict[str, str]] = []

    def start_query(self, **request: Any) -> dict[str, Any]:
        self._rows = run(parse(request["queryString"]), self._events).rows
        return {"queryId": "q"}

    def get_query_results(self, **_: Any) -> dict[str, Any]:
        rows = [[{"field": name, "value": value} for name, value in row.items()] for row in self._rows]
        return {"status": "Complete", "results": rows}

    def stop_query(self, **_: Any) -> dict[str, Any]:
        return {}


def _seconds(event: dict[str, Any]) -> float:
    return (AT - timedelta(minutes=1000 - event["seq"])).timestamp()


def paged(events: list[dict[str, Any]], nodes: int, shape: str = "composite", **changes: Any) -> Pager:
    pager = Pager(large_fleets=frozenset({"trn1-pretrain"}))
    pager.logs = Insights(events)  # type: ignore[assignment]  # it answers as the fake does
    mean = (100 * 18.0 + (nodes - 100) * 0.1) / nodes
    pager.cloudwatch.series = {AT - timedelta(minutes=ago): mean if ago <= 12 else 0.1 for ago in range(20, 0, -1)}
    pager.handle(alarm_change(shape, **changes))
    return pager


@EACH
def test_the_bad_one_of_two_jobs_is_named_with_all_its_dollars(nodes: int) -> None:
    good = [event for i in range(nodes - 100) for event in history(f"i-good-{i}", {20: GOOD})]
    bad = [event for i in range(100) for event in history(f"i-bad-{i}", {20: GOOD | {"job": "llama-8"}, 12: BAD})]

    details = paged(good + bad, nodes).inbox.pagerduty[0]["payload"]["custom_details"]

    assert details["job"] == "llama-pretrain (llama-8), owner foundation-models"
    assert len(details["nodes"]) == 6
    assert all(
        re.match(r"i-bad-\d+: trn1.32xlarge, tensor engines 6 %, \$18.00/h", line) for line in details["nodes"][:5]
    )
    assert details["nodes"][5] == f"and {nodes - 5} more"
    # 100 nodes at 18 and all others at a tenth for twelve minutes.
    told = {200: "$1,810.00 an hour wasted, $362.00", 2000: "$1,990.00 an hour wasted, $398.00"}[nodes]
    assert details["money"].startswith(f"{told} since 2026-11-21 03:29 UTC ($21.50 per node")


@EACH
def test_the_faulty_one_is_named_with_its_error_and_nothing_else(nodes: int) -> None:
    fault = {"state": "FAULT", "hardware_errors": [{"kind": "sram-uncorrectable", "action": "replace", "device": 7}]}
    events = [event for i in range(nodes - 1) for event in history(f"i-{i}", {20: GOOD})]

    pager = paged([*events, *history("i-hurt", {20: GOOD, 2: fault})], nodes, "metric_math")

    details = pager.inbox.pagerduty[0]["payload"]["custom_details"]
    (line,) = details["nodes"]
    assert line.startswith(
        "i-hurt: trn1.32xlarge, $21.50/h, sram-uncorrectable on device 7: replace the node, RUNNING → FAULT"
    )


def test_the_metric_that_is_missing_costs_the_page_only_its_exactness() -> None:
    pager = Pager(large_fleets=frozenset({"trn1-pretrain"}))
    pager.logs = Insights(history("i-bad", {20: BAD}))  # type: ignore[assignment]  # as above
    pager.cloudwatch.error = OSError()
    pager.cloudwatch.series = {}
    pager.cloudwatch.error = None

    page = pager.handle(alarm_change("composite")).page

    assert page is not None
    assert page.evidence is not None
    assert page.evidence.usd_per_hour == 18.0


def test_the_query_asks_for_as_many_rows_as_there_are_and_names_no_message() -> None:
    query = states_query("trn1")

    assert "by node, state" in query
    assert query.endswith("| limit 10000")
    assert "@message" not in query


def test_whatever_hangs_is_left_behind_in_time() -> None:
    began = time.monotonic()

    with pytest.raises(EnrichmentError, match=r"AWS did not answer within 0\.05 s"):
        within(0.05, lambda: time.sleep(2))

    assert time.monotonic() - began < 1.5
    assert within(1, lambda: 7) == 7
    with pytest.raises(KeyError):
        within(1, lambda: dict[str, int]()["x"])


@EACH
def test_a_lost_job_costs_the_price_of_its_own_nodes_from_the_first_report_on(nodes: int) -> None:
    others = [event for i in range(nodes - 40) for event in history(f"i-{i}", {20: GOOD})]
    own = [event for i in range(39) for event in history(f"i-lost-{i}", {20: {"wasted_usd_per_hour": 1.0}})]
    told = {"jobs": [{"job": "llama-8", "cost_usd_per_hour": 21.5, "non_finite_losses": 2}]}
    rank = history("i-rank-0", {20: {"wasted_usd_per_hour": 1.0}, 6: {"wasted_usd_per_hour": 1.0, **told}})

    details = paged([*others, *own, *rank], nodes, "metric_math", AlarmName="prod/trn1-pretrain/NonFiniteLoss")
    custom = details.inbox.pagerduty[0]["payload"]["custom_details"]

    assert custom["job"] == "llama-pretrain (llama-8), owner foundation-models"
    # Forty nodes at $21.50 for six minutes.
    assert custom["money"].startswith("$860.00 an hour wasted, $86.00 since 2026-11-21 03:35 UTC")
    assert custom["nodes"][-1] == "and 35 more"


def test_only_the_idle_nodes_of_a_large_fleet_are_counted() -> None:
    idle = {"wasted_usd_per_hour": 21.5, "neuron_core_utilization": 0.0, "tensor_engine_utilization": None}
    busy = [event for i in range(300) for event in history(f"i-{i}", {20: GOOD | {"neuron_core_utilization": 96.0}})]
    idler = history("i-idle", {20: {"wasted_usd_per_hour": 1.0}, 5: idle})

    details = paged([*busy, *idler], 301, "metric_math", AlarmName="prod/trn1-pretrain/IdleAllocated")
    custom = details.inbox.pagerduty[0]["payload"]["custom_details"]

    assert [line.split(":")[0] for line in custom["nodes"]] == ["i-idle"]
    assert custom["money"].startswith("$21.50 an hour wasted ($21.50 per node-hour")
