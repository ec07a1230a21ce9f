"""The embedded CloudWatch holds actions back as the API's settings say: suppressor, warm-up, mute rules."""

import json
from typing import Any

import pytest

from local.emulator.clock import EmulatorClock
from local.emulator.cloudwatch.errors import ApiError
from local.emulator.cloudwatch.service import CloudWatch

START = 1_790_000_040
TOPIC = "arn:aws:sns:us-east-2:000000000000:page"
PREFIX = "arn:aws:cloudwatch:us-east-2:000000000000"
ALARM = {
    "Namespace": "N",
    "Statistic": "Maximum",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 1.0,
    "ComparisonOperator": "GreaterThanOrEqualToThreshold",
    "TreatMissingData": "notBreaching",
}


class Region:
    """CloudWatch of one region, and what it published: minute, alarm, state."""

    def __init__(self) -> None:
        self.clock = EmulatorClock()
        list(self.clock.advance(START))
        self.published: list[tuple[int, str, str]] = []
        self.cloudwatch = CloudWatch("000000000000", "us-east-2", self.clock, self._publish)

    def _publish(self, topic: str, subject: str, body: str) -> None:
        message = json.loads(body)
        minute = int(self.clock.now() - START) // 60
        self.published.append((minute, message["AlarmName"], message["NewStateValue"]))

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        function = self.cloudwatch.operation(operation)
        assert function is not None
        return dict(function(request) or {})

    def watch(self, name: str, **settings: Any) -> None:
        self.call("PutMetricAlarm", AlarmName=name, MetricName=name, **{**ALARM, **settings})

    def minute(self, minute: int, **values: float) -> None:
        """The metrics of the minute that ends at ``minute``, then the evaluation."""
        for name, value in values.items():
            datum = {"MetricName": name, "Value": value, "Timestamp": START + 60 * (minute - 1)}
            self.call("PutMetricData", Namespace="N", MetricData=[datum])
        for now in self.clock.advance(START + 60 * minute):
            self.cloudwatch.evaluate(now)

    def described(self, name: str) -> dict[str, Any]:
        answer = self.call("DescribeAlarms", AlarmNames=[name], AlarmTypes=["MetricAlarm", "CompositeAlarm"])
        found: list[dict[str, Any]] = [*answer["MetricAlarms"], *answer["CompositeAlarms"]]
        return found[0]


@pytest.fixture
def region() -> Region:
    return Region()


def _suppressed(region: Region, **settings: Any) -> None:
    region.watch("bad")
    region.watch("deploying")
    composite = {
        "AlarmName": "page",
        "AlarmRule": "ALARM(bad)",
        "AlarmActions": [TOPIC],
        "ActionsSuppressor": f"{PREFIX}:alarm:deploying",
        "ActionsSuppressorWaitPeriod": 120,
        "ActionsSuppressorExtensionPeriod": 180,
    }
    region.call("PutCompositeAlarm", **(composite | settings))


def test_a_composite_waits_for_its_suppressor_before_it_acts(region: Region) -> None:
    _suppressed(region)
    region.minute(1, bad=0)
    region.minute(4, bad=1)
    waiting = region.described("page")
    region.minute(5, bad=1)
    region.minute(6, bad=1)

    assert (waiting["StateValue"], waiting["ActionsSuppressedBy"]) == ("ALARM", "WaitPeriod")
    assert waiting["ActionsSuppressedReason"] == "Actions suppressed by WaitPeriod"
    assert "ActionsSuppressedBy" not in region.described("page")
    assert region.published == [(6, "page", "ALARM")]


def test_a_suppressor_that_goes_holds_the_actions_for_its_extension(region: Region) -> None:
    _suppressed(region)
    shown = []
    for minute, bad, deploying in [(1, 0, 0), (4, 0, 1), (5, 1, 1), (6, 1, 0), (7, 1, 0), (8, 1, 0), (9, 1, 0)]:
        region.minute(minute, bad=bad, deploying=deploying)
        shown.append(region.described("page").get("ActionsSuppressedBy"))

    assert shown[1:] == ["Alarm", "Alarm", "ExtensionPeriod", "ExtensionPeriod", "ExtensionPeriod", None]
    assert region.published == [(9, "page", "ALARM")]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"ActionsSuppressorWaitPeriod": None}, "ActionsSuppressorWaitPeriod"),
        ({"ActionsSuppressorExtensionPeriod": -1}, "less than 0"),
        ({"ActionsSuppressor": "nobody"}, "nobody does not exist"),
    ],
)
def test_a_wrong_suppressor_is_refused_and_nothing_is_made(region: Region, change: dict[str, Any], named: str) -> None:
    with pytest.raises(ApiError, match=named):
        _suppressed(region, **change)

    assert region.call("DescribeAlarms", AlarmTypes=["CompositeAlarm"])["CompositeAlarms"] == []


def test_a_warm_up_holds_an_alarm_of_silence_until_it_is_over(region: Region) -> None:
    warm_up = {"WarmUpPeriodDurationInMinutes": 5}
    region.watch("beat", TreatMissingData="breaching", WarmUpConfiguration=warm_up, AlarmActions=[TOPIC])
    region.minute(4)
    assert region.described("beat")["StateValue"] == "INSUFFICIENT_DATA"
    region.minute(5)

    assert region.published == [(5, "beat", "ALARM")]


def test_a_warm_up_out_of_its_limits_is_refused(region: Region) -> None:
    with pytest.raises(ApiError, match="1 to 2880"):
        region.watch("beat", WarmUpConfiguration={"WarmUpPeriodDurationInMinutes": 3000})


def _mute(region: Region, expression: str, duration: str = "PT3M", **settings: Any) -> None:
    schedule = {"Expression": expression, "Duration": duration}
    targets = {"AlarmNames": ["bad"]}
    region.call("PutAlarmMuteRule", Name="upkeep", Rule={"Schedule": schedule}, MuteTargets=targets, **settings)


def test_a_mute_rule_holds_the_action_until_its_window_ends(region: Region) -> None:
    region.watch("bad", AlarmActions=[TOPIC])
    region.minute(1, bad=0)
    _mute(region, "at(2026-09-21T14:16)")
    for minute in range(2, 6):
        region.minute(minute, bad=1)
    status = region.call("GetAlarmMuteRule", AlarmMuteRuleName="upkeep")
    region.minute(6, bad=1)

    assert region.described("bad")["StateValue"] == "ALARM"
    assert status["Status"] == "SCHEDULED"
    assert status["MuteType"] == "ONE_TIME"
    assert status["AlarmMuteRuleArn"] == f"{PREFIX}:alarm-mute-rule:upkeep"
    assert region.published == [(5, "bad", "ALARM")]


def test_actions_that_are_changed_in_a_mute_window_are_those_that_follow_it() -> None:
    # "New actions are executed if alarm actions are updated during mute window", with the note on no actions.
    for actions, expected in [([TOPIC], [(5, "bad", "ALARM")]), ([], [])]:
        region = Region()
        region.watch("bad")
        region.minute(1, bad=0)
        _mute(region, "at(2026-09-21T14:16)")
        region.minute(3, bad=1)
        region.watch("bad", AlarmActions=actions)
        region.minute(5, bad=1)

        assert region.published == expected


def test_mute_rules_are_listed_by_alarm_and_status_and_deleted(region: Region) -> None:
    _mute(region, "cron(* * * * *)", StartDate=START, ExpireDate=START + 600)
    listed = region.call("ListAlarmMuteRules", AlarmName="bad", Statuses=["ACTIVE"])["AlarmMuteRuleSummaries"]
    others = region.call("ListAlarmMuteRules", AlarmName="other")["AlarmMuteRuleSummaries"]
    region.call("DeleteAlarmMuteRule", AlarmMuteRuleName="upkeep")

    assert [(each["Status"], each["MuteType"]) for each in listed] == [("ACTIVE", "RECURRING")]
    assert others == []
    with pytest.raises(ApiError, match="upkeep does not exist"):
        region.call("GetAlarmMuteRule", AlarmMuteRuleName="upkeep")


@pytest.mark.parametrize(
    ("expression", "settings", "named"),
    [
        ("rate(1 hour)", {}, "neither cron"),
        ("cron(0 0 * * *)", {"duration": "PT1S"}, "PT1M to P15D"),
        ("cron(0 0 * * *)", {"StartDate": "tomorrow"}, "ISO 8601"),
    ],
)
def test_a_wrong_mute_rule_is_refused(region: Region, expression: str, settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ApiError, match=named):
        _mute(region, expression, **settings)

    assert region.call("ListAlarmMuteRules")["AlarmMuteRuleSummaries"] == []


@pytest.mark.parametrize(
    "settings",
    [
        {"EvaluationWindow": {"WallClockWindow": {}}},
        {"ThresholdMetricId": "ad1"},
    ],
)
def test_a_kind_of_alarm_that_is_not_served_is_refused_by_name(region: Region, settings: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match=f"{next(iter(settings))} is not supported here"):
        region.watch("bad", **settings)


def test_an_alarm_can_not_search(region: Region) -> None:
    query = {"Id": "e1", "Expression": "SEARCH('{N} MetricName=\"bad\"', 'Average', 60)"}
    limits = {key: ALARM[key] for key in ("EvaluationPeriods", "Threshold", "ComparisonOperator")}

    with pytest.raises(ApiError, match="cannot use SEARCH"):
        region.call("PutMetricAlarm", AlarmName="bad", Metrics=[query], **limits)


def test_disabled_actions_stay_disabled_through_an_evaluation(region: Region) -> None:
    region.watch("bad", AlarmActions=[TOPIC], OKActions=[TOPIC])
    region.minute(1, bad=0)
    region.call("DisableAlarmActions", AlarmNames=["bad"])
    region.minute(2, bad=1)
    region.call("EnableAlarmActions", AlarmNames=["bad"])
    region.minute(3, bad=1)
    region.minute(4, bad=0)

    assert region.published == [(1, "bad", "OK"), (4, "bad", "OK")]
