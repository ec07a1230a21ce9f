"""Alarm specs as CloudWatch alarms, and fleets as the settings of their alarms."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_sns as sns

from dashboards.alarms import AlarmGroup, mute
from environments.alarms import alarm_settings, environment_alarms
from environments.fleets import TrainingFleet
from environments.loader import load
from environments.maintenance import Window
from environments.model import Environment
from fleet.alarms import (
    AlarmSettings,
    AnySpec,
    Severity,
    change_in_progress,
    contributor_alarms,
    fleet_alarms,
    followed_alarms,
    platform_alarms,
)
from fleet.fleet_spec import MarketKind
from fleet.load_balancer import EndpointNames
from tests.support.templates import new_app


def rendered(settings: AlarmSettings, specs: Sequence[AnySpec] | None = None) -> dict[str, dict[str, Any]]:
    """The properties of every alarm, by its key."""
    stack = cdk.Stack(new_app(), "Alarms")
    topics: dict[Severity, sns.ITopic] = {
        severity: sns.Topic(stack, severity.value, topic_name=severity.value) for severity in Severity
    }
    machinery = change_in_progress("prod")
    past = sns.Topic(stack, "past")
    suppressor = AlarmGroup(
        stack, "suppressor", specs=[machinery], topics=topics, bypass_pager=past, runbooks_url="docs", tags={}
    )
    AlarmGroup(
        stack,
        "fleet",
        specs=(
            *(fleet_alarms(settings) if specs is None else specs),
            *platform_alarms("prod", has_block_engine=True, has_pools=True, forecast_percent=105),
        ),
        topics=topics,
        bypass_pager=past,
        runbooks_url="docs/runbooks",
        tags={"fleet": "trn1", "owner": "research"},
        suppressors={machinery.name: suppressor.by_key[machinery.key]},
    )
    found: dict[str, dict[str, Any]] = {}
    for resource in assertions.Template.from_stack(stack).to_json()["Resources"].values():
        properties = resource.get("Properties", {})
        if "AlarmName" in properties:
            found[properties["AlarmName"].rpartition("/")[2]] = properties
    return found


@pytest.fixture(scope="module")
def alarms() -> dict[str, dict[str, Any]]:
    return rendered(
        AlarmSettings(environment="prod", fleet="trn1", purpose="training", market=MarketKind.CAPACITY_BLOCK, nodes=16)
    )


MARKETS = [kind.value for kind in MarketKind if kind is not MarketKind.SPOT]


def with_market(kind: str) -> Environment:
    """The development environment, its training fleet bought another way."""
    environment = load("dev")
    markets = {str(fleet.market.kind): fleet.market for fleet in (*load("prod").fleets, *environment.fleets)}
    (training,) = environment.training_fleets
    return environment.model_copy(update={"fleets": (training.model_copy(update={"market": markets[kind]}),)})


@pytest.mark.parametrize("kind", MARKETS)
def test_the_alarms_know_how_the_fleets_capacity_is_bought(kind: str) -> None:
    environment = with_market(kind)

    assert alarm_settings(environment, environment.fleets[0]).market == kind


def test_silence_is_no_incident_until_what_speaks_is_deployed(alarms: dict[str, dict[str, Any]]) -> None:
    warm_ups = {key: alarm["WarmUpConfiguration"] for key, alarm in alarms.items() if "WarmUpConfiguration" in alarm}

    half_an_hour = {"WarmUpPeriodDurationInMinutes": 30}
    speakers = ("CapacityWatch", "CapacityBlockEngine", "PoolController", "Ledger")
    assert warm_ups == dict.fromkeys((f"{each}Silent" for each in speakers), half_an_hour)


def test_thresholds_come_from_the_environment_file() -> None:
    environment = load("prod")
    fleet = next(fleet for fleet in environment.fleets if fleet.name == "trn2-frontier")
    assert isinstance(fleet, TrainingFleet)

    thresholds = alarm_settings(environment, fleet).thresholds

    assert (thresholds.low_utilization_percent, thresholds.wasted_usd_per_node_hour) == (25, 10)


def test_only_fleets_with_a_load_balancer_get_endpoint_alarms() -> None:
    specs = environment_alarms(load("prod"), {"inf2-chat": EndpointNames("app/chat/1", "targetgroup/chat/1")})

    endpoint = {
        fleet: [spec.key for spec in of_fleet if spec.key.startswith("Endpoint")] for fleet, of_fleet in specs.items()
    }
    assert endpoint == {
        "trn1-pretrain": [],
        "trn2-frontier": [],
        "inf2-chat": ["EndpointErrors", "EndpointLatencyP99"],
    }


def test_a_single_metric_is_rendered_with_its_own_dimensions_and_statistic(alarms: dict[str, Any]) -> None:
    below = alarms["UtilizationBelowThreshold"]

    assert (below["Namespace"], below["MetricName"], below["Statistic"]) == (
        "NeuronFleet",
        "LowestJobTensorEngineUtilization",
        "Minimum",
    )
    assert below["Dimensions"] == [{"Name": "Environment", "Value": "prod"}, {"Name": "Fleet", "Value": "trn1"}]
    assert (below["DatapointsToAlarm"], below["EvaluationPeriods"], below["Period"]) == (12, 17, 60)
    assert (below["ComparisonOperator"], below["TreatMissingData"]) == ("LessThanThreshold", "notBreaching")


def test_an_expression_returns_one_series_over_named_metrics(alarms: dict[str, Any]) -> None:
    expression, *queries = alarms["Straggler"]["Metrics"]

    assert expression["Expression"] == "IF(FILL(busy, 100) < 5 OR FILL(useful, 100) < 20, 0, apart)"
    assert {query["Id"]: (query["ReturnData"], query["MetricStat"]["Stat"]) for query in queries} == {
        "apart": (False, "Maximum"),
        "busy": (False, "Minimum"),
        "useful": (False, "Minimum"),
    }


@pytest.mark.parametrize(
    ("key", "treatment"),
    [("FleetBlind", "notBreaching"), ("CapacityWatchSilent", "breaching"), ("CapacityMissing", "ignore")],
)
def test_what_silence_means_is_said_in_cloudwatchs_words(alarms: dict[str, Any], key: str, treatment: str) -> None:
    assert alarms[key]["TreatMissingData"] == treatment


def test_undelivered_pages_speak_to_one_more_topic_than_the_pagers(alarms: dict[str, Any]) -> None:
    told = [
        [action["Ref"][:4] for action in alarms["PagerUndelivered"][kind]] for kind in ("AlarmActions", "OKActions")
    ]

    assert told == [["page", "past"]] * 2


@pytest.mark.parametrize(
    ("key", "topic"), [("LowUtilization", "page"), ("HardwareFault", "page"), ("NodeBlind", "ticket")]
)
def test_severity_chooses_the_topic(alarms: dict[str, Any], key: str, topic: str) -> None:
    (action,) = alarms[key]["AlarmActions"]

    assert action["Ref"].startswith(topic)


def test_children_of_a_composite_have_no_action(alarms: dict[str, Any]) -> None:
    assert "AlarmActions" not in alarms["WasteAboveThreshold"]
    assert "OKActions" not in alarms["WasteAboveThreshold"]


def test_an_alarm_can_be_routed_by_its_tags_which_travel_with_its_notifications(alarms: dict[str, Any]) -> None:
    for key, severity in (("LowUtilization", "page"), ("NodeBlind", "ticket")):
        tags = {tag["Key"]: tag["Value"] for tag in alarms[key]["Tags"]}
        assert tags == {"fleet": "trn1", "owner": "research", "severity": severity}
        assert alarms[key]["ActionConfiguration"] == {
            "AlarmTagsPropagation": {
                "Enabled": True,
                "IncludedTagKeys": ["environment", "fleet", "owner", "severity"],
            }
        }
    assert "ActionConfiguration" not in alarms["WasteAboveThreshold"]


def test_low_utilization_is_quiet_while_somebody_changes_the_environment(alarms: dict[str, Any]) -> None:
    composite = alarms["LowUtilization"]

    assert (
        composite["ActionsSuppressor"],
        composite["ActionsSuppressorWaitPeriod"],
        composite["ActionsSuppressorExtensionPeriod"],
    ) == ("prod/platform/ChangeInProgress", 60, 240)


def test_a_window_mutes_what_notifies_of_its_fleets_a_hundred_alarms_a_rule() -> None:
    window = {"name": "night", "reason": "firmware", "cron": "0 2 * * SUN", "minutes": 90, "time_zone": "Europe/Berlin"}
    environment = load("prod").model_copy(
        update={"maintenance": (Window(**window), Window(**window | {"name": "one", "fleets": ("inf2-chat",)}))}
    )
    specs = environment_alarms(environment, {})
    stack = cdk.Stack(new_app(), "Mutes")
    # Three times the fleets' alarms, as a large environment would have.
    many = {
        name: [replace(spec, subject=f"{name}-{copy}") for spec in of for copy in range(3)]
        for name, of in specs.items()
    }

    mute(stack, environment.name, environment.maintenance, many)

    rules = {
        resource["Properties"]["Name"]: resource["Properties"]
        for resource in assertions.Template.from_stack(stack).to_json()["Resources"].values()
    }
    muted = [name for rule in rules.values() for name in rule["MuteTargets"]["AlarmNames"]]
    assert list(rules) == ["neuron-fleet-prod-night", "neuron-fleet-prod-night-2", "neuron-fleet-prod-one"]
    assert rules["neuron-fleet-prod-night"]["Rule"] == {
        "Schedule": {"Duration": "PT90M", "Expression": "cron(0 2 * * SUN)", "Timezone": "Europe/Berlin"}
    }
    assert len(rules["neuron-fleet-prod-night"]["MuteTargets"]["AlarmNames"]) == 100
    assert {name.split("/")[1][:9] for name in rules["neuron-fleet-prod-one"]["MuteTargets"]["AlarmNames"]} == {
        "inf2-chat"
    }
    assert not [name for name in muted if "AboveThreshold" in name or "/platform/" in name]


def test_an_alarm_that_follows_nodes_is_a_query_with_periods_of_its_own() -> None:
    settings = AlarmSettings(
        environment="prod", fleet="trn1", purpose="training", market=MarketKind.ON_DEMAND, nodes=16
    )
    found = rendered(settings, followed_alarms(settings, fleet_alarms(settings)))
    (spec,) = (each for each in contributor_alarms(settings) if each.key == "NodeBlind")

    blind = found["NodeBlind"]
    criteria = {"Query": spec.expression, "PendingPeriod": 300, "RecoveryPeriod": 300}
    assert blind["EvaluationCriteria"] == {"PromQLCriteria": criteria}
    assert blind["EvaluationInterval"] == 60
    assert blind["AlarmActions"] == blind["OKActions"] != []
    # What is about metrics of the classic kind would be refused beside a query.
    assert {"MetricName", "Metrics", "Threshold", "EvaluationPeriods", "TreatMissingData"}.isdisjoint(blind)


def test_what_only_the_capacity_watch_knows_stays_classic_and_parts_go_with_their_composite() -> None:
    settings = AlarmSettings(
        environment="prod", fleet="trn1", purpose="training", market=MarketKind.ON_DEMAND, nodes=16
    )
    found = rendered(settings, followed_alarms(settings, fleet_alarms(settings)))

    assert "MetricName" in found["CapacityMissing"]
    assert "Metrics" in found["FleetSilent"]
    assert {"UtilizationBelowThreshold", "WasteAboveThreshold"}.isdisjoint(found)
    assert "EvaluationCriteria" in found["LowUtilization"]
