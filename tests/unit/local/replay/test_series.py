"""What a replayed node pushes is what its agent would push, as far as a rule reads it."""

from dataclasses import replace

import pytest

from agents.collectors.collector import Contribution
from agents.minute.aggregate import batch_of, metric_data
from agents.minute.pipeline import Surroundings
from agents.sinks.otlp_requests import requests
from agents.sinks.series.levels import READ_BY_RULES, Level
from fleet import metrics
from local.alarm_evaluation.promql import Labels, Selector, labels_of, parse, selectors_in
from local.replay.series import Pushed
from tests.support import agents, batches
from tests.support.otlp import decoded, labels

COUNTS = {metrics.COMPILATION_EVENTS: 2.0, metrics.EFA_RECEIVE_BYTES: 5.0}
AROUND = Surroundings(Contribution(jobs=(batches.JOB,), metrics=COUNTS))
Samples = dict[tuple[Labels, int], float]


@pytest.mark.parametrize("shape", batches.SHAPES)
def test_every_series_that_a_rule_may_read_is_as_the_agent_sends_it(shape: str) -> None:
    entry = agents.one_minute(batches.SHAPES[shape], around=AROUND, own=batches.OWN)
    datums = metric_data(entry)
    sent: dict[str, Samples] = {}
    for name, points in decoded(*requests(batch_of(entry), level=Level.RULES)).items():
        for point in points:
            key = labels_of({"__name__": name, **labels(point)}), point.time_unix_nano // 10**9
            sent.setdefault(name, {})[key] = point.as_double

    # One by one: what no rule reads is not even worked out.
    found = {
        name: {(each.labels, each.at): each.value for each in Pushed([Selector(name, ())]).of(entry, datums)}
        for name in sent
    }
    assert found == sent
    assert set(sent) <= READ_BY_RULES
    assert len(sent) >= 2


def test_what_no_rule_selects_is_left_out() -> None:
    entry = agents.one_minute(batches.SHAPES["full node"], around=AROUND, own=batches.OWN)
    rule = parse('neuron_fleet_node_state{neuron_fleet_node_state="BLIND"} == 1')

    (only,) = Pushed(selector for selector, _ in selectors_in(rule)).of(entry, metric_data(entry))

    assert dict(only.labels)["neuron_fleet_node_state"] == "BLIND"
    assert only.value == 0


def test_nodes_that_share_their_datums_push_the_same_under_their_own_names() -> None:
    entry = agents.one_minute(batches.SHAPES["full node"], around=AROUND, own=batches.OWN)
    other = replace(entry, node=replace(entry.node, name="i-2"))
    datums = metric_data(entry)
    selector = Selector("neuron_fleet_job_wasted_usd_per_hour", ())
    pushed = Pushed([selector])

    (first,), (second,) = pushed.of(entry, datums), pushed.of(other, datums)

    assert Pushed([selector]).of(other, metric_data(other)) == [second]
    assert (dict(first.labels)["node"], dict(second.labels)["node"]) == ("i-1", "i-2")
    assert first.value == second.value
