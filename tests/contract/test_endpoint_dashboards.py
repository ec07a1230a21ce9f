"""An endpoint's own dashboard: everything that its section has and its alarms look at, and ways that lead somewhere."""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from aws_cdk import assertions

from environments.alarm_linter import lint, of_template
from environments.alarms import around
from environments.fleet_specs import launch_plans
from environments.loader import load
from environments.model import Environment
from environments.month_shape import month_shape
from fleet import naming
from fleet.load_balancer import EndpointNames
from stacks.observability import ObservabilityStack
from tests.support.hosted_environment import FLEET as HOSTED
from tests.support.hosted_environment import content as hosted_content
from tests.support.scaled_endpoint import TO_ONE, TO_ZERO, scaled
from tests.support.templates import new_app
from tests.support.watching import ENVIRONMENTS, Json, dashboards, flatten, watched

CHAT = "inf2-chat"
_LINK = re.compile(r"\]\(#dashboards:name=([^)]*)\)")


def asked(environment: Environment, *, own: bool) -> Environment:
    """The environment with dashboards for its endpoints, or without."""
    monitoring = environment.monitoring.model_copy(update={"endpoint_dashboards": own})
    return environment.model_copy(update={"monitoring": monitoring})


def both_engines() -> Environment:
    """Production with a second endpoint, which SageMaker runs."""
    content = load("prod").model_dump(mode="json", exclude_unset=True)
    content["fleets"] = [*content["fleets"], *hosted_content()["fleets"]]
    return Environment.model_validate(content)


CASES: dict[str, Callable[[], Environment]] = {
    "prod": lambda: load("prod"),
    "local": lambda: load("local"),
    "both engines": both_engines,
    "scaled": lambda: scaled(TO_ONE),
    "scaled to zero": lambda: scaled(TO_ZERO),
}


@cache
def template(case: str, *, own: bool = True) -> Json:
    environment = asked(CASES[case](), own=own)
    endpoints = {
        fleet.name: EndpointNames(f"app/{fleet.name}/1", f"targetgroup/{fleet.name}/1", f"{fleet.name}-nodes")
        for fleet in environment.inference_fleets
    }
    stack = ObservabilityStack(
        new_app(), "observability", environment=environment, plans=launch_plans(environment), endpoints=endpoints
    )
    return dict(assertions.Template.from_stack(stack).to_json())


def bodies(case: str, *, own: bool = True) -> dict[str, Json]:
    """By audience."""
    prefix = naming.dashboard_name(CASES[case]().name, "")
    return {
        properties["DashboardName"].removeprefix(prefix): json.loads(flatten(properties["DashboardBody"]))
        for resource in template(case, own=own)["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Dashboard" and (properties := resource["Properties"])
    }


def endpoints(case: str) -> dict[str, Json]:
    """The own dashboards by fleet."""
    start = naming.endpoint_audience("")
    return {name.removeprefix(start): body for name, body in bodies(case).items() if name.startswith(start)}


def titles(body: Json) -> set[str]:
    return {widget["properties"]["title"] for widget in body["widgets"] if "title" in widget["properties"]}


def sections(body: Json) -> dict[str, set[str]]:
    """Titles by the heading that they stand under; those of all endpoints under none."""
    found: dict[str, set[str]] = {"": set()}
    fleet = ""
    for widget in body["widgets"]:
        if heading := re.match(r"## (\S+)", widget["properties"].get("markdown", "")):
            fleet = heading[1]
        found.setdefault(fleet, set()).update(titles({"widgets": [widget]}))
    return found


def texts(body: Json) -> list[str]:
    return [widget["properties"]["markdown"] for widget in body["widgets"] if widget["type"] == "text"]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_endpoints_have_a_dashboard_where_the_file_asks_for_them(name: str) -> None:
    environment = watched(name).environment
    serving = {fleet.name for fleet in (*environment.inference_fleets, *environment.hosted_fleets)}
    expected = {naming.endpoint_audience(fleet) for fleet in serving}

    found = {audience for audience in dashboards(watched(name)) if audience.startswith("endpoint-")}
    assert found == (expected if name in {"prod", "local"} else set())


@pytest.mark.parametrize("case", CASES)
def test_what_is_priced_is_what_is_deployed(case: str) -> None:
    for own in (True, False):
        assert month_shape(asked(CASES[case](), own=own)).dashboards == len(bodies(case, own=own))


def test_dashboards_are_in_no_file_by_default() -> None:
    assert not watched("dev").environment.monitoring.endpoint_dashboards


@pytest.mark.parametrize("case", CASES)
def test_an_endpoints_own_dashboard_has_what_its_section_has(case: str) -> None:
    found = sections(bodies(case, own=False)["inference"])

    assert set(found) == {"", *endpoints(case)}
    for fleet, body in endpoints(case).items():
        assert found[""] | found[fleet] <= titles(body), fleet


@pytest.mark.parametrize("case", CASES)
def test_everything_that_its_alarms_look_at_is_on_it(case: str) -> None:
    found = of_template(template(case))
    for fleet in endpoints(case):
        name = naming.dashboard_name(CASES[case]().name, naming.endpoint_audience(fleet))
        (own,) = (each for each in found.dashboards if each.name == name)
        drawn = {_identity(series) for widget in own.widgets for series in widget.series}
        of_fleet = [alarm for alarm in found.alarms if alarm.name.split("/")[1] == fleet]

        assert of_fleet
        for alarm in of_fleet:
            assert {_identity(series) for series in alarm.series} <= drawn, alarm.name


def _identity(series: Any) -> tuple[str, str, frozenset[tuple[str, str]]]:
    return series.namespace, series.name, frozenset(series.dimensions.items())


@pytest.mark.parametrize("case", CASES)
def test_the_states_of_its_alarms_are_on_it_and_of_no_others(case: str) -> None:
    resources = template(case)["Resources"]
    for fleet, body in endpoints(case).items():
        shown = {arn for widget in body["widgets"] for arn in widget["properties"].get("alarms", ())}
        ids = {match[1] for arn in shown if (match := re.search(r"<Fn::GetAtt:\[(\w+), Arn\]>", arn))}
        telling = {
            key
            for key, resource in resources.items()
            if "AlarmActions" in resource.get("Properties", {})
            and flatten(resource["Properties"]["AlarmName"]).split("/")[1] == fleet
        }

        assert ids == telling


@pytest.mark.parametrize("case", CASES)
def test_its_alarms_runbooks_are_linked_on_it(case: str) -> None:
    environment = CASES[case]()
    for fleet, body in endpoints(case).items():
        linked = set(re.findall(r"/(\w+)\.md\)", " ".join(texts(body))))
        telling = {
            flatten(properties["AlarmName"]).split("/")[2]
            for resource in template(case)["Resources"].values()
            if "AlarmActions" in (properties := resource.get("Properties", {}))
            and flatten(properties["AlarmName"]).split("/")[1] == fleet
        }

        assert linked == telling
        assert environment.paging.runbooks_url in " ".join(texts(body))


@pytest.mark.parametrize("case", CASES)
def test_a_link_leads_to_a_dashboard_that_is_deployed(case: str) -> None:
    prefix = naming.dashboard_name(CASES[case]().name, "")
    linked = {audience: _LINK.findall(" ".join(texts(body))) for audience, body in bodies(case).items()}

    assert {name for names in linked.values() for name in names} <= {prefix + audience for audience in bodies(case)}
    assert linked["inference"] == [prefix + naming.endpoint_audience(fleet) for fleet in endpoints(case)]
    for fleet in endpoints(case):
        assert linked[naming.endpoint_audience(fleet)] == [f"{prefix}inference", f"{prefix}operator"]


@pytest.mark.parametrize("case", CASES)
def test_the_overview_is_a_row_of_each_endpoint(case: str) -> None:
    *rest, changes = bodies(case)["inference"]["widgets"]
    rows = [rest[start : start + 5] for start in range(0, len(rest), 5)]

    assert changes["properties"]["title"] == "Changes under way"
    assert len(rows) == len(endpoints(case))
    for fleet, (name, *graphs) in zip(endpoints(case), rows, strict=True):
        assert name["properties"]["markdown"].startswith(f"## {fleet}\n")
        assert [graph["type"] for graph in graphs] == ["metric"] * 4
        assert {widget["y"] for widget in (name, *graphs)} == {name["y"]}
        assert sum(widget["width"] for widget in (name, *graphs)) == 24


def test_a_scaled_endpoint_shows_the_nodes_asked_for_and_those_that_are_there() -> None:
    drawn = {
        json.dumps(entry[1])
        for widget in endpoints("scaled")[CHAT]["widgets"]
        if widget["properties"].get("title") == "Nodes, the candidate's included"
        for entry in widget["properties"]["metrics"]
    }

    assert {'"GroupDesiredCapacity"', '"GroupInServiceInstances"', '"PresentNodes"'} <= drawn


def test_the_steps_of_a_rollout_are_drawn_where_its_candidate_answers() -> None:
    (share,) = (
        widget["properties"]
        for widget in endpoints("prod")[CHAT]["widgets"]
        if widget["properties"].get("title") == "Requests that a rollout's candidate answers"
    )

    assert [line["value"] for line in share["annotations"]["horizontal"]] == [5, 25, 50, 100]


def test_an_endpoint_of_sagemaker_has_its_target_and_what_it_costs() -> None:
    body = endpoints("both engines")[HOSTED]
    (load_graph,) = (w for w in body["widgets"] if w["properties"].get("title") == "Invocations a minute and instance")

    assert [line["label"] for line in load_graph["properties"]["annotations"]["horizontal"]] == ["target 240"]
    assert any("SageMaker" in said and "EC2" in said for said in texts(body))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("metric", ["RequestCount", "HbmUsedPercent"])
def test_a_widget_that_reads_what_nobody_publishes_is_refused(case: str, metric: str) -> None:
    whole = of_template(template(case))
    assert [finding for finding in lint(whole, around(CASES[case]())) if finding.is_error] == []

    damaged = json.loads(json.dumps(template(case)).replace(f'\\"{metric}\\"', f'\\"{metric}s\\"'))
    refused = [f for f in lint(of_template(damaged), around(CASES[case]())) if f.is_error]
    of_own = [f for f in refused if f"{naming.endpoint_audience(CHAT)}: " in f.path]
    assert {finding.code for finding in of_own} == {"widget-unknown-metric"}


def test_fleets_whose_names_differ_in_a_dash_have_a_dashboard_each() -> None:
    content = load("local").model_dump(mode="json", exclude_unset=True)
    chat = content["fleets"][-1]
    content["fleets"] = [*content["fleets"], chat | {"name": "inf2chat"}]
    environment = Environment.model_validate(content)
    names = {fleet.name: EndpointNames("app/x/1", "targetgroup/x/1") for fleet in environment.inference_fleets}

    stack = ObservabilityStack(
        new_app(), "observability", environment=environment, plans=launch_plans(environment), endpoints=names
    )

    found = assertions.Template.from_stack(stack).find_resources("AWS::CloudWatch::Dashboard").values()
    assert {"neuron-fleet-local-endpoint-inf2-chat", "neuron-fleet-local-endpoint-inf2chat"} <= {
        each["Properties"]["DashboardName"] for each in found
    }
