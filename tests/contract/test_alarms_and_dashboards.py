"""What alarms and dashboards look at is what agents publish, and every alarm tells a person what to do."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from environments.alarms import alarm_settings
from fleet import auto_scaling, load_balancer, metrics, naming, operations_metrics
from fleet.alarms import endpoint_alarms, fleet_alarms, metrics_budget, platform_alarms, precompile_alarms
from fleet.alarms.compilation import STATES
from fleet.fleet_spec import MarketKind
from fleet.load_balancer import EndpointNames
from lambdas.pager.log_events import CapacityEvent
from local.dashboards_page.screenshot import FRAME_HEIGHT, ROW_HEIGHT
from tests.support.scaled_endpoint import scaling
from tests.support.watching import ENVIRONMENTS, Json, Watched, dashboards, flatten, watched

ROOT = Path(__file__).parents[2]
RUNBOOKS = ROOT / "docs" / "runbooks"

# The rows of the troubleshooting table that training guides for Trainium share.
SYMPTOMS = {
    "Compilation hangs",
    "Low tensor engine utilization",
    "Out of memory during compilation",
    "NaN losses",
    "Slow training",
    "EFA errors",
}
# Every other metric is on a dashboard of production.
NOT_DRAWN = {
    metrics.SPOT_INTERRUPTIONS.name: "no fleet of production is on Spot; a fleet that is has the graph",
}

NODE_EVENT_FIELDS = {
    "schema", "environment", "fleet", "node", "instance_type", "availability_zone", "job", "job_name", "jobs", "owner",
    "state", "state_reason", "seq", "boot_id", "minute", "tensor_engine_utilization", "neuron_core_utilization",
    "hbm_used_percent", "executions_completed", "execution_errors", "cost_usd_per_hour", "wasted_usd_per_hour",
    "price", "kind", "as_of", "cores", "utilization",
}  # fmt: skip
CAPACITY_EVENT_FIELDS = {
    "schema", "kind", "environment", "fleet", "minute", "owner", "instance_type", "market", "wanted", "reserved",
    "used", "unused", "missing", "present", "reason", "action", "reservations", "price", "unused_usd_per_hour",
    "ends_at", "interrupted", "price_stale",
}  # fmt: skip
# What the watch publishes in every minute in which AWS answers.
GAUGES_OF_THE_WATCH = {
    metric for metric, spec in metrics.CATALOGUE.items() if spec.publisher is metrics.Publisher.CAPACITY_WATCH
} - {
    # Said only where there is something to say: without a word there is nothing.
    metrics.SPOT_INTERRUPTIONS.name,
    metrics.JOB_CORES_APART.name,
}
QUERY_WORDS = {
    "fields", "filter", "stats", "sort", "limit", "by", "as", "asc", "desc", "avg", "max", "min", "sum", "count",
    "latest", "earliest", "pct", "count_distinct", "and", "or", "in", "like", "SOURCE", "unnest", "into", "jsonParse",
    "jsonStringify", "coalesce", "floor", "now", "toMillis",
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
    for entry in widget["properties"].get("metrics", []):
        if "expression" in entry[0]:
            yield from searched(entry[0]["expression"])
        else:
            namespace, name, *rest = entry
            names = [item for item in rest if isinstance(item, str)]
            yield namespace, name, dict(zip(names[::2], names[1::2], strict=True))


def searched(expression: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """What a search finds: its schema's dimensions, with the values that it asks for."""
    for schema, terms in re.findall(r"SEARCH\('\{([^}]*)\} ([^']*)'", expression):
        namespace, *names = schema.split(",")
        asked = dict(re.findall(r'(\w+)="([^"]*)"', terms))
        yield namespace, asked["MetricName"], {name: asked.get(name, "*") for name in names}


def assert_published(name: str, dimensions: dict[str, str], of: Watched) -> None:
    assert name in metrics.CATALOGUE
    assert tuple(dimensions) in metrics.CATALOGUE[name].dimension_sets
    assert dimensions[metrics.ENVIRONMENT] == of.environment.name
    assert dimensions[metrics.FLEET] in {fleet.name for fleet in of.environment.fleets}


def test_every_alarm_reads_what_agents_publish(environment: Watched) -> None:
    for alarm in alarms(environment):
        for namespace, name, _, dimensions in alarm_series(alarm):
            if namespace == metrics.NAMESPACE:
                # CloudWatch compares dimensions as a set; CDK writes them sorted.
                assert_published(name, dict(sorted(dimensions.items())), environment)
            elif namespace == operations_metrics.NAMESPACE:
                assert name in operations_metrics.CATALOGUE
                assert dimensions == {operations_metrics.ENVIRONMENT: environment.environment.name}
            else:
                assert namespace in {load_balancer.NAMESPACE, auto_scaling.NAMESPACE, "AWS/SQS", STATES}


def test_every_queue_of_letters_that_nobody_could_read_has_an_alarm(environment: Watched) -> None:
    deployed = {
        queue["QueueName"]
        for stack in environment.templates
        for queue in environment.resources(stack, "AWS::SQS::Queue")
    }
    watched_queues = {
        dimensions["QueueName"]
        for alarm in alarms(environment)
        for namespace, _, _, dimensions in alarm_series(alarm)
        if namespace == "AWS/SQS"
    }

    assert deployed == watched_queues


def test_the_engine_is_watched_where_it_is_deployed(environment: Watched) -> None:
    keys = {name(alarm)[2] for alarm in alarms(environment)}

    assert ("CapacityBlockEngineSilent" in keys) == ("capacity-blocks" in environment.templates)


def test_no_alarm_reads_a_sum_of_ours_or_names_a_unit(environment: Watched) -> None:
    for alarm in alarms(environment):
        assert "Unit" not in json.dumps(alarm)
        for namespace, _, statistic, _ in alarm_series(alarm):
            assert namespace == load_balancer.NAMESPACE or statistic not in {"Sum", "SampleCount"}


def test_every_alarm_looks_at_single_minutes(environment: Watched) -> None:
    periods = {period for alarm in alarms(environment) for period in re.findall(r'"Period": (\d+)', json.dumps(alarm))}

    assert periods == {"60"}


def test_every_alarm_says_what_silence_means(environment: Watched) -> None:
    assert {alarm["TreatMissingData"] for alarm in alarms(environment)} <= {"breaching", "notBreaching", "ignore"}


def test_only_what_nodes_do_not_publish_leaves_an_alarm_in_its_state(environment: Watched) -> None:
    for alarm in alarms(environment):
        names = {metric for _, metric, _, _ in alarm_series(alarm)}
        if alarm["TreatMissingData"] == "ignore":
            assert names - set(metrics.AGENT_CATALOGUE), alarm["AlarmName"]
        else:
            # One that is filled in cannot be missing.
            filled = {"PresentNodes"} if "FILL(present" in json.dumps(alarm) else set()
            assert not (names - filled) & GAUGES_OF_THE_WATCH, alarm["AlarmName"]


def test_an_alarm_that_tells_somebody_also_tells_when_it_is_over(environment: Watched) -> None:
    notifying = [alarm for alarm in (*alarms(environment), *composites(environment)) if "AlarmActions" in alarm]

    assert notifying
    assert all(alarm["OKActions"] == alarm["AlarmActions"] for alarm in notifying)


def test_the_parts_of_a_composite_tell_nobody(environment: Watched) -> None:
    silent = {name(alarm)[2] for alarm in alarms(environment) if "AlarmActions" not in alarm}

    parts = {"UtilizationBelowThreshold", "WasteAboveThreshold"}
    if environment.environment.name == "dev":
        # Its endpoint may have no node.
        parts |= {"AsleepLately", "EndpointErrorsSeen", "NoHealthyTargetsSeen"}
    # And what others wait for.
    assert silent == parts | {"ChangeInProgress"}


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
            suppressor = resource["Properties"].get("ActionsSuppressor")
            # Of an endpoint that may have no node: one that sees, and one that knows that it is asleep.
            assert len(children) == (4 if suppressor else 2)
            assert {existing[each] for each in (*children, suppressor) if each} == set(resource["DependsOn"])


def test_alarm_names_are_environment_fleet_and_key(environment: Watched) -> None:
    for alarm in (*alarms(environment), *composites(environment)):
        of, subject, _ = name(alarm)
        assert of == environment.environment.name
        assert subject in {naming.PLATFORM} | {fleet.name for fleet in environment.environment.fleets}


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
    fleets = [
        replace(alarm_settings(prod, fleet), market=market, scaling=scales)
        for fleet in prod.fleets
        for market in MarketKind
        for scales in (None, scaling(), scaling(least=0, zero_after_minutes=60))
    ]
    known = {
        alarm.key
        for fleet in fleets
        for alarm in (
            *fleet_alarms(fleet),
            *endpoint_alarms(fleet, EndpointNames("app/x/1", "targetgroup/x/1")),
            *platform_alarms("prod", has_block_engine=True, has_pools=True, forecast_percent=105),
            *precompile_alarms("prod", "arn"),
            *precompile_alarms("prod", "arn"),
            metrics_budget("prod", jobs_planned=1),
        )
        if alarm.notifies
    }

    assert {path.stem for path in runbooks()} == known


@pytest.mark.parametrize("section", ["Symptom", "What it means", "First commands", "Fix", "Prevention"])
def test_every_runbook_has_the_same_sections(section: str) -> None:
    missing = [path.name for path in runbooks() if f"\n## {section}\n" not in path.read_text()]

    assert missing == []


@pytest.mark.parametrize("runbook", sorted(RUNBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_a_runbook_begins_with_three_commands_and_says_what_they_print(runbook: Path) -> None:
    if runbook.stem == "README":
        return
    _, _, rest = runbook.read_text(encoding="utf-8").partition("\n## First commands\n")
    section, _, _ = rest.partition("\n## ")
    said, _, printed = section.partition("\nWhat they print:\n")
    blocks = said.split("\n```")[1::2]
    # A line that is indented, or begins with a bar, belongs to the command above it.
    commands = [line for block in blocks for line in block.splitlines() if line and line[0] not in " |#"]

    assert len(commands) >= 3
    assert re.findall(r"^(\d)\. \S", printed, flags=re.MULTILINE) == ["1", "2", "3"]


def test_every_symptom_of_the_guides_has_an_alarm_and_a_runbook() -> None:
    text = (RUNBOOKS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| (\w+) \| \[(\w+)\]\((\w+)\.md\) \|$", text, flags=re.MULTILINE)
    prod = watched("prod")
    keys = {name(alarm)[2] for alarm in (*alarms(prod), *composites(prod)) if "AlarmActions" in alarm}

    assert {words for words in SYMPTOMS if not any(row[0].startswith(words) for row in rows)} == set()
    for _, alarm, title, link in rows:
        assert alarm == title == link
        assert alarm in keys
        assert (RUNBOOKS / f"{link}.md").is_file()


def test_every_widget_draws_what_agents_publish(environment: Watched) -> None:
    for widget in widgets(environment):
        for namespace, metric, dimensions in widget_series(widget):
            if namespace == metrics.NAMESPACE:
                assert_published(metric, dict(sorted(dimensions.items())), environment)
            elif namespace == operations_metrics.NAMESPACE:
                assert metric in operations_metrics.CATALOGUE
                assert dimensions == {operations_metrics.ENVIRONMENT: environment.environment.name}
            else:
                assert namespace in {load_balancer.NAMESPACE, auto_scaling.NAMESPACE}


def test_every_metric_is_drawn_or_has_a_reason_not_to_be() -> None:
    drawn = {metric for widget in widgets(watched("prod")) for _, metric, _ in widget_series(widget)}

    assert (metrics.CATALOGUE | operations_metrics.CATALOGUE).keys() - drawn == NOT_DRAWN.keys()


@pytest.mark.parametrize(
    ("key", "audiences"),
    [
        ("NonFiniteLoss", {"training"}),
        ("EfaDegraded", {"training"}),
        ("Straggler", {"training"}),
        ("JobHang", {"training"}),
        ("HardwareFault", {"operator"}),
        ("FleetSilent", {"operator", "agent-health"}),
        # Whoever wonders why a figure jumped.
        ("ChangeInProgress", {"operator", "inference", "endpoint-inf2-chat", "agent-health"}),
    ],
)
def test_what_an_alarm_reads_is_drawn_where_its_audience_looks(key: str, audiences: set[str]) -> None:
    prod = watched("prod")
    read = {metric for alarm in alarms(prod) if name(alarm)[2] == key for _, metric, _, _ in alarm_series(alarm)}
    # The states of nodes have a graph of their own, and how many there are is the capacity's matter.
    read -= {metrics.NODES_FAULT.name, metrics.PRESENT_NODES.name}

    assert read
    for audience in audiences:
        drawn = {metric for widget in dashboards(prod)[audience]["widgets"] for _, metric, _ in widget_series(widget)}
        assert read <= drawn, audience


@pytest.mark.parametrize(
    ("mean", "lowest"),
    [
        (metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING, metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION),
        (metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, metrics.LOWEST_JOB_CORE_UTILIZATION),
    ],
)
def test_the_operator_sees_the_lowest_job_beside_the_mean(
    environment: Watched, mean: metrics.MetricSpec, lowest: metrics.MetricSpec
) -> None:
    together = {
        dimensions[metrics.FLEET]
        for widget in dashboards(environment)["operator"]["widgets"]
        for _, metric, dimensions in widget_series(widget)
        if metric == lowest.name and mean.name in {other for _, other, _ in widget_series(widget)}
    }

    assert together == {fleet.name for fleet in environment.environment.fleets if fleet not in hosted(environment)}


def test_dashboards_use_the_shapes_that_the_local_page_draws(environment: Watched) -> None:
    for widget in widgets(environment):
        assert widget["type"] in {"metric", "alarm", "text", "log"}
        if widget["type"] == "metric":
            assert widget["properties"]["view"] in {"timeSeries", "singleValue"}


def test_no_row_is_wider_than_the_dashboard(environment: Watched) -> None:
    assert all(widget["x"] + widget["width"] <= 24 for widget in widgets(environment))


def test_two_training_fleets_are_told_of_on_the_first_two_screens() -> None:
    """Two screens of 1080 pixels, as the page lays out its rows; what lies below them is headed as details."""
    widgets = dashboards(watched("local"))["training"]["widgets"]
    details = [w for w in widgets if w["type"] == "text" and w["properties"]["markdown"].endswith(": details")]
    above = {
        dimensions[metrics.FLEET] for w in widgets if w["y"] < details[0]["y"] for *_, dimensions in widget_series(w)
    }

    assert len(details) == 2
    assert above == {fleet.name for fleet in watched("local").environment.training_fleets}
    assert FRAME_HEIGHT + ROW_HEIGHT * details[0]["y"] <= 2 * 1080


def test_thresholds_are_drawn_where_their_alarm_has_them(environment: Watched) -> None:
    drawn = {
        (line["label"], line["value"])
        for widget in widgets(environment)
        for line in widget["properties"].get("annotations", {}).get("horizontal", [])
    }
    fleet = environment.environment.training_fleets[0]
    threshold = fleet.alarms.low_utilization_percent

    assert (f"UtilizationBelowThreshold below {threshold:g}", threshold) in drawn


def test_log_queries_ask_for_fields_of_the_events_in_their_log(environment: Watched) -> None:
    queries = [widget["properties"]["query"] for widget in widgets(environment) if widget["type"] == "log"]
    fields = {
        f"SOURCE '{naming.node_log_group(environment.environment.name)}' ": NODE_EVENT_FIELDS,
        f"SOURCE '{naming.capacity_log_group(environment.environment.name)}' ": CAPACITY_EVENT_FIELDS,
    }

    assert {query.partition("|")[0] for query in queries} == set(fields)
    for query in queries:
        source, _, body = query.partition("|")
        aliases = set(re.findall(r"\b(?:as|into) (\w+)", body))
        words = set(re.findall(r"@?[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", body)))
        assert words - aliases - QUERY_WORDS <= fields[source] | {"@timestamp", "@message"}


def test_the_pager_reads_the_fields_of_the_capacity_event() -> None:
    assert set(CapacityEvent.model_fields) <= CAPACITY_EVENT_FIELDS


def test_the_operator_sees_alarms_first() -> None:
    first, what_to_do, second, *_ = dashboards(watched("prod"))["operator"]["widgets"]

    assert (first["type"], what_to_do["type"], second["type"]) == ("alarm", "text", "alarm")
    every = (*alarms(watched("prod")), *composites(watched("prod")))
    severities = [
        tag["Value"] for each in every if "AlarmActions" in each for tag in each["Tags"] if tag["Key"] == "severity"
    ]
    assert [len(widget["properties"]["alarms"]) for widget in (first, second)] == [
        severities.count(severity) for severity in ("page", "ticket")
    ]


def test_what_to_do_stands_below_the_alarms_that_page() -> None:
    pages, runbooks_of, *_ = sorted(dashboards(watched("prod"))["operator"]["widgets"], key=lambda w: int(w["y"]))

    assert (pages["properties"]["title"], runbooks_of["type"]) == ("Alarms that page", "text")
    assert runbooks_of["properties"]["markdown"].startswith("**Runbooks**")


def test_what_the_alarms_of_production_cost_a_month_is_what_is_documented() -> None:
    """$0.10 for each metric that a metric alarm reads, $0.50 for a composite (CloudWatch's price list)."""
    of = watched("prod")
    cents = 10 * sum(len(list(alarm_series(alarm))) for alarm in alarms(of)) + 50 * len(composites(of))
    documented = (RUNBOOKS.parent / "alarms.md").read_text(encoding="utf-8")

    assert (
        f"{len(alarms(of))} alarms and {len(composites(of))} composites cost ${cents / 100:.2f} a month" in documented
    )


def test_no_fleet_has_a_capacity_graph_that_nobody_fills() -> None:
    titles = {
        of: {
            widget["properties"]["title"]
            for widget in dashboards(watched(of))["capacity-and-cost"]["widgets"]
            if re.search("[Rr]eserved|Unused|issing", widget["properties"].get("title", ""))
        }
        for of in ("prod", "dev")
    }

    nothing_reserved = {"Missing nodes", "Why nodes are missing"}
    assert titles["dev"] == nothing_reserved
    assert titles["prod"] == nothing_reserved | {
        "Unused reservations, dollars an hour",
        "Reserved instances of trn1-pretrain",
        "Reserved instances of trn2-frontier",
    }


def test_the_capacity_dashboard_shows_the_states_of_its_alarms() -> None:
    (tiles,) = (w for w in dashboards(watched("prod"))["capacity-and-cost"]["widgets"] if w["type"] == "alarm")

    assert len(tiles["properties"]["alarms"]) == 3 + 5 + 2


def test_no_metric_name_is_written_in_the_dashboards_folder() -> None:
    names = "|".join(metrics.CATALOGUE)
    written = {
        path.name: found
        for path in (ROOT / "dashboards").glob("*.py")
        if (found := re.findall(rf'"({names})"', path.read_text()))
    }

    assert written == {}


def hosted(of: Watched) -> tuple[Any, ...]:
    return of.environment.hosted_fleets


def runbooks() -> list[Path]:
    return [path for path in RUNBOOKS.glob("*.md") if path.stem != "README"]


def name(alarm: dict[str, Any]) -> tuple[str, str, str]:
    """Environment, fleet and key."""
    environment, fleet, key = alarm["AlarmName"].split("/")
    return environment, fleet, key
