"""What alarms and dashboards look at is what agents publish, and every alarm tells a person what to do."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboards.alarms import alarm_settings
from fleet import load_balancer, metrics
from fleet.alarms import endpoint_alarms, fleet_alarms
from fleet.load_balancer import EndpointNames
from tests.support.watching import ENVIRONMENTS, Json, Watched, dashboards, flatten, watched

ROOT = Path(__file__).parents[2]
RUNBOOKS = ROOT / "docs" / "runbooks"

# In the catalogue, and not measured by this version of the agent.
NOT_PUBLISHED = {
    metrics.COMPILATION_EVENTS,
    metrics.COMPILATION_SECONDS,
    metrics.COMPILE_CACHE_HITS,
    metrics.COMPILE_CACHE_MISSES,
    metrics.COMPILE_FAILURES,
    metrics.TOKENS_PER_SECOND,
    metrics.SAMPLES_PER_SECOND,
    metrics.TRAINING_LOSS,
    metrics.NON_FINITE_LOSS,
    metrics.EFA_RECEIVE_BYTES,
    metrics.EFA_TRANSMIT_BYTES,
    metrics.EFA_RETRANSMITS,
    metrics.EFA_FALLBACK_TO_TCP,
    metrics.SPOT_INTERRUPTIONS,
    metrics.RESERVED_INSTANCES,
    metrics.UNUSED_RESERVED_INSTANCES,
    metrics.UNUSED_RESERVATION_USD_PER_HOUR,
    metrics.MISSING_NODES,
    metrics.CAPACITY_BLOCK_MINUTES_LEFT,
}
PUBLISHED = {name: spec for name, spec in metrics.CATALOGUE.items() if spec not in NOT_PUBLISHED}

NODE_EVENT_FIELDS = {
    "schema", "environment", "fleet", "node", "instance_type", "availability_zone", "job", "job_name", "owner", "state",
    "state_reason", "seq", "boot_id", "minute", "tensor_engine_utilization", "neuron_core_utilization",
    "hbm_used_percent", "executions_completed", "execution_errors", "cost_usd_per_hour", "wasted_usd_per_hour",
}  # fmt: skip
QUERY_WORDS = {
    "fields", "filter", "stats", "sort", "limit", "by", "as", "asc", "desc", "avg", "max", "min", "sum", "count",
    "latest", "earliest", "pct", "and", "or", "in", "like", "SOURCE",
}  # fmt: skip


@pytest.fixture(params=ENVIRONMENTS)
def environment(request: pytest.FixtureRequest) -> Watched:
    return watched(request.param)


def alarms(of: Watched) -> list[Json]:
    return of.resources("observability", "AWS::CloudWatch::Alarm")


def composites(of: Watched) -> list[Json]:
    return of.resources("observability", "AWS::CloudWatch::CompositeAlarm")


def widgets(of: Watched) -> list[Json]:
    return [widget for body in dashboards(of).values() for widget in body["widgets"]]


def alarm_series(alarm: Json) -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """Namespace, name, statistic and dimensions of everything that an alarm reads."""
    stats: list[Json] = [entry["MetricStat"] for entry in alarm.get("Metrics", []) if "MetricStat" in entry]
    direct: list[Json] = [{"Metric": alarm, "Stat": alarm.get("Statistic", alarm.get("ExtendedStatistic"))}]
    for stat in stats or direct:
        metric = stat["Metric"]
        dimensions = {item["Name"]: flatten(item["Value"]) for item in metric["Dimensions"]}
        yield metric["Namespace"], metric["MetricName"], stat["Stat"], dimensions


def widget_series(widget: Json) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Namespace, name and dimensions of everything that a widget draws."""
    for namespace, name, *rest in (entry for entry in widget["properties"].get("metrics", []) if len(entry) > 1):
        names = [item for item in rest if isinstance(item, str)]
        yield namespace, name, dict(zip(names[::2], names[1::2], strict=True))


def assert_published(name: str, dimensions: dict[str, str], of: Watched) -> None:
    assert name in PUBLISHED
    assert tuple(dimensions) in PUBLISHED[name].dimension_sets
    assert dimensions[metrics.ENVIRONMENT] == of.environment.name
    assert dimensions[metrics.FLEET] in {fleet.name for fleet in of.environment.fleets}


def test_every_alarm_reads_what_agents_publish(environment: Watched) -> None:
    for alarm in alarms(environment):
        for namespace, name, _, dimensions in alarm_series(alarm):
            if namespace == metrics.NAMESPACE:
                # CloudWatch compares dimensions as a set; CDK writes them sorted.
                assert_published(name, dict(sorted(dimensions.items())), environment)
            else:
                assert namespace == load_balancer.NAMESPACE


def test_no_alarm_reads_a_sum_of_ours_or_names_a_unit(environment: Watched) -> None:
    for alarm in alarms(environment):
        assert "Unit" not in json.dumps(alarm)
        for namespace, _, statistic, _ in alarm_series(alarm):
            assert namespace == load_balancer.NAMESPACE or statistic not in {"Sum", "SampleCount"}


def test_every_alarm_looks_at_single_minutes(environment: Watched) -> None:
    periods = {period for alarm in alarms(environment) for period in re.findall(r'"Period": (\d+)', json.dumps(alarm))}

    assert periods == {"60"}


def test_every_alarm_says_what_silence_means(environment: Watched) -> None:
    assert {alarm["TreatMissingData"] for alarm in alarms(environment)} <= {"breaching", "notBreaching"}


def test_an_alarm_that_tells_somebody_also_tells_when_it_is_over(environment: Watched) -> None:
    notifying = [alarm for alarm in (*alarms(environment), *composites(environment)) if "AlarmActions" in alarm]

    assert notifying
    assert all(alarm["OKActions"] == alarm["AlarmActions"] for alarm in notifying)


def test_the_parts_of_a_composite_tell_nobody(environment: Watched) -> None:
    silent = {name(alarm)[2] for alarm in alarms(environment) if "AlarmActions" not in alarm}

    assert silent == {"UtilizationBelowThreshold", "WasteAboveThreshold"}


def test_composites_read_alarms_that_exist_and_are_made_first(environment: Watched) -> None:
    resources = environment.templates["observability"]["Resources"]
    existing = {
        resource["Properties"]["AlarmName"]: logical_id
        for logical_id, resource in resources.items()
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    }

    for resource in resources.values():
        if resource["Type"] == "AWS::CloudWatch::CompositeAlarm":
            children = re.findall(r'ALARM\("([^"]+)"\)', resource["Properties"]["AlarmRule"])
            assert len(children) == 4
            assert {existing[child] for child in children} == set(resource["DependsOn"])


def test_alarm_names_are_environment_fleet_and_key(environment: Watched) -> None:
    for alarm in (*alarms(environment), *composites(environment)):
        of, fleet, _ = name(alarm)
        assert of == environment.environment.name
        assert fleet in {fleet.name for fleet in environment.environment.fleets}


def test_every_alarm_that_tells_somebody_has_a_runbook(environment: Watched) -> None:
    for alarm in (*alarms(environment), *composites(environment)):
        if "AlarmActions" in alarm:
            key = name(alarm)[2]
            assert (RUNBOOKS / f"{key}.md").is_file()
            url = f"{environment.environment.paging.runbooks_url}/{key}.md"
            assert alarm["AlarmDescription"].endswith(f" Runbook: {url}")
            assert len(alarm["AlarmDescription"]) <= 1024


def test_every_runbook_belongs_to_an_alarm() -> None:
    prod = watched("prod").environment
    known = {
        alarm.key
        for fleet in prod.fleets
        for alarm in (
            *fleet_alarms(alarm_settings(prod, fleet)),
            *endpoint_alarms(alarm_settings(prod, fleet), EndpointNames("app/x/1", "targetgroup/x/1")),
        )
        if alarm.notifies
    }

    assert {path.stem for path in RUNBOOKS.glob("*.md")} == known


@pytest.mark.parametrize("section", ["Symptom", "What it means", "First commands", "Fix", "Prevention"])
def test_every_runbook_has_the_same_sections(section: str) -> None:
    missing = [path.name for path in RUNBOOKS.glob("*.md") if f"\n## {section}\n" not in path.read_text()]

    assert missing == []


def test_every_widget_draws_what_agents_publish(environment: Watched) -> None:
    for widget in widgets(environment):
        for namespace, metric, dimensions in widget_series(widget):
            if namespace == metrics.NAMESPACE:
                assert_published(metric, dict(sorted(dimensions.items())), environment)
            else:
                assert namespace == load_balancer.NAMESPACE


def test_every_published_fleet_metric_is_drawn_somewhere() -> None:
    drawn = {metric for widget in widgets(watched("prod")) for _, metric, _ in widget_series(widget)}

    # Memory is drawn as a share of the device.
    assert {name for name, spec in PUBLISHED.items() if spec.per_fleet} - drawn == {"HbmUsedBytes"}


def test_dashboards_use_the_shapes_that_the_local_page_draws(environment: Watched) -> None:
    for widget in widgets(environment):
        assert widget["type"] in {"metric", "alarm", "text", "log"}
        if widget["type"] == "metric":
            assert widget["properties"]["view"] in {"timeSeries", "singleValue"}


def test_no_row_is_wider_than_the_dashboard(environment: Watched) -> None:
    assert all(widget["x"] + widget["width"] <= 24 for widget in widgets(environment))


def test_thresholds_are_drawn_where_their_alarm_has_them(environment: Watched) -> None:
    drawn = {
        (line["label"], line["value"])
        for widget in widgets(environment)
        for line in widget["properties"].get("annotations", {}).get("horizontal", [])
    }
    fleet = environment.environment.training_fleets[0]
    threshold = fleet.alarms.low_utilization_percent

    assert (f"UtilizationBelowThreshold below {threshold:g}", threshold) in drawn


def test_log_queries_ask_for_fields_of_the_node_event(environment: Watched) -> None:
    queries = [widget["properties"]["query"] for widget in widgets(environment) if widget["type"] == "log"]

    assert queries
    for query in queries:
        body = query.partition("|")[2]
        aliases = set(re.findall(r"\bas (\w+)", body))
        words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", body)))
        assert words - aliases - QUERY_WORDS <= NODE_EVENT_FIELDS


def test_the_operator_sees_alarms_first() -> None:
    first, second, *_ = dashboards(watched("prod"))["operator"]["widgets"]

    assert (first["type"], second["type"]) == ("alarm", "alarm")
    # Five pages and five tickets for a fleet that trains; an endpoint has three more pages beside two, and six tickets.
    assert (len(first["properties"]["alarms"]), len(second["properties"]["alarms"])) == (15, 16)


def test_no_metric_name_is_written_in_the_dashboards_folder() -> None:
    names = "|".join(metrics.CATALOGUE)
    written = {
        path.name: found
        for path in (ROOT / "dashboards").glob("*.py")
        if (found := re.findall(rf'"({names})"', path.read_text()))
    }

    assert written == {}


def name(alarm: dict[str, Any]) -> tuple[str, str, str]:
    """Environment, fleet and key."""
    environment, fleet, key = alarm["AlarmName"].split("/")
    return environment, fleet, key
