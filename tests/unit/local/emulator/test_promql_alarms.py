"""Series over OTLP, and alarms that follow each of them: as the API takes, shows and tells it."""

import gzip
import json
from typing import Any, Final

import botocore.session
import pytest
from botocore.validate import ParamValidator

from agents.sinks.otlp_requests import requests
from agents.sinks.otlp_sink import OtlpSink
from fleet.alarms import contributor_alarms
from lambdas.pager.messages import AlarmChange
from local.emulator.clock import EmulatorClock
from local.emulator.cloudwatch.errors import ApiError
from local.emulator.cloudwatch.otlp import samples
from local.emulator.cloudwatch.service import CloudWatch
from tests.support import batches, followed_fleet
from tests.support.otlp import decoded, labels
from tests.unit.local.emulator.conftest import Emulator

START: Final = 1_790_000_040
TOPIC: Final = "arn:aws:sns:us-east-2:000000000000:page"
HEADERS: Final = {"content-type": "application/json", "content-encoding": "gzip"}
QUERY: Final = 'max by (job, node) (max_over_time(hot{fleet="a"}[3m])) > 1'


def body(*points: tuple[str, dict[str, str], float, float]) -> bytes:
    metrics = [
        {
            "name": name,
            "gauge": {
                "dataPoints": [
                    {
                        "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in named.items()],
                        "timeUnixNano": str(int(at * 1e9)),
                        "asDouble": value,
                    }
                ]
            },
        }
        for name, named, at, value in points
    ]
    request = {"resourceMetrics": [{"resource": {}, "scopeMetrics": [{"scope": {}, "metrics": metrics}]}]}
    return gzip.compress(json.dumps(request).encode())


class Region:
    """CloudWatch of one region, and the messages that it published."""

    def __init__(self) -> None:
        self.clock = EmulatorClock()
        list(self.clock.advance(START))
        self.told: list[dict[str, Any]] = []
        self.cloudwatch = CloudWatch("000000000000", "us-east-2", self.clock, self._publish)

    def _publish(self, topic: str, subject: str, message: str) -> None:
        self.told.append(json.loads(message))

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        function = self.cloudwatch.operation(operation)
        assert function is not None
        return dict(function(request) or {})

    def watch(self, query: str = QUERY, **settings: Any) -> None:
        asked = {"Query": query, "PendingPeriod": settings.pop("pending", 0), "RecoveryPeriod": settings.pop("rest", 0)}
        self.call(
            "PutMetricAlarm",
            **{
                "AlarmName": "hot",
                "EvaluationCriteria": {"PromQLCriteria": asked},
                "EvaluationInterval": 60,
                "AlarmActions": [TOPIC],
                "OKActions": [TOPIC],
                **settings,
            },
        )

    def minute(self, minute: int, **values: float) -> None:
        """What the nodes send of the minute that ends now, then the evaluation."""
        at = START + 60 * minute
        points = [("hot", {"fleet": "a", "job": "llama", "node": node}, at, value) for node, value in values.items()]
        for now in self.clock.advance(at):
            if points:
                self.cloudwatch.take_series(body(*points), HEADERS)
            self.cloudwatch.evaluate(now)

    def contributors(self) -> list[tuple[str, str]]:
        """Node and state of each message that was of a contributor, in order."""
        told = [each for each in self.told if "AlarmContributorId" in each]
        return [(each["AlarmContributorAttributes"]["node"], each["NewStateValue"]) for each in told]


def test_each_series_is_told_when_it_breaches_and_when_it_rests() -> None:
    region = Region()
    region.watch()

    region.minute(1, one=5, two=0)
    region.minute(2, one=5, two=5)
    for minute in range(3, 8):
        region.minute(minute, one=0, two=0)

    assert region.contributors() == [("one", "ALARM"), ("two", "ALARM"), ("one", "OK"), ("two", "OK")]
    whole = [each["NewStateValue"] for each in region.told if "AlarmContributorId" not in each]
    assert whole == ["ALARM", "OK"]


def test_it_waits_for_the_pending_period_and_rests_after_the_recovery_period() -> None:
    region = Region()
    region.watch('hot{fleet="a"} > 1', pending=120, rest=120)

    for minute in range(1, 5):
        region.minute(minute, one=5)
    for minute in range(5, 9):
        region.minute(minute, one=0)

    assert [round((_seconds(each) - START) / 60) for each in region.told if "AlarmContributorId" in each] == [3, 7]


def _seconds(message: dict[str, Any]) -> float:
    return AlarmChange.model_validate(message).changed_at.timestamp()


def test_the_pager_reads_the_message_of_a_contributor() -> None:
    region = Region()
    region.watch()

    region.minute(1, one=5)

    change = AlarmChange.model_validate(next(each for each in region.told if "AlarmContributorId" in each))
    assert change.attributes == {"job": "llama", "node": "one"}
    assert len(change.contributor) == 16
    assert change.identity.endswith(":alarm:hot|llama")


@pytest.mark.parametrize("purpose", ["training", "inference"])
def test_every_alarm_of_a_fleet_is_taken_by_aws_s_model_and_here(purpose: str) -> None:
    region = Region()
    shape = botocore.session.get_session().get_service_model("cloudwatch").operation_model("PutMetricAlarm").input_shape
    assert shape is not None

    for alarm in contributor_alarms(followed_fleet.settings(purpose=purpose)):
        criteria = {
            "Query": alarm.expression,
            "PendingPeriod": alarm.pending_seconds,
            "RecoveryPeriod": alarm.recovery_seconds,
        }
        request = {
            "AlarmName": alarm.name,
            "AlarmDescription": alarm.description("https://runbooks"),
            "EvaluationCriteria": {"PromQLCriteria": criteria},
            "EvaluationInterval": 60,
        }
        assert not ParamValidator().validate(request, shape).has_errors(), alarm.key
        region.call("PutMetricAlarm", **request)


def test_muted_contributors_are_told_at_the_end_of_the_window() -> None:
    region = Region()
    region.watch()
    rule = {"Schedule": {"Expression": "at(2026-09-21T14:15)", "Duration": "PT5M", "Timezone": "UTC"}}
    region.call("PutAlarmMuteRule", Name="quiet", Rule=rule, MuteTargets={"AlarmNames": ["hot"]})

    for minute in range(1, 9):
        region.minute(minute, one=5)

    (first,) = [each for each in region.told if "AlarmContributorId" in each]
    assert first["NewStateValue"] == "ALARM"


def test_an_alarm_on_a_metric_that_becomes_one_on_promql_is_not_evaluated_as_both() -> None:
    region = Region()
    classic = {
        "Namespace": "N",
        "MetricName": "m",
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 1.0,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "breaching",
    }
    region.call("PutMetricAlarm", AlarmName="hot", AlarmActions=[TOPIC], **classic)
    region.watch()

    region.minute(1, one=0)

    assert region.told == []


def test_a_composite_reads_an_alarm_that_follows_series() -> None:
    region = Region()
    region.watch()
    region.call("PutCompositeAlarm", AlarmName="both", AlarmRule='ALARM("hot")', AlarmActions=[TOPIC])

    region.minute(1, one=5)

    assert "both" in {each["AlarmName"] for each in region.told}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"query": ""}, "The parameter Query is required."),
        ({"query": "rate(hot[5m])"}, "rate"),
        ({"query": "hot >"}, "Error in Query"),
        ({"query": "x" * 10_001}, "10001 characters; the limit is 10000"),
        ({"EvaluationInterval": 5}, "EvaluationInterval 5 is not within 10 to 3600 seconds"),
        ({"pending": 90_000}, "PendingPeriod is 90000"),
        ({"Threshold": 3}, "An alarm with EvaluationCriteria takes no Threshold"),
    ],
)
def test_an_alarm_that_would_be_refused_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ApiError, match=said.replace("(", r"\(")):
        Region().watch(**settings)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"{", "not OTLP in JSON"),
        (gzip.compress(b'{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "a", "sum": {}}]}]}]}'), "gauge"),
        (body(*[("hot", {}, START, 1.0)] * 1001), "1001 data points; the limit is 1000"),
        (body(("hot", {f"l{index}": "v" for index in range(151)}, START, 1.0)), "151 labels; the limit is 150"),
        (body(("hot", {}, START - 15 * 86_400, 1.0)), "at most 14 days old"),
        (gzip.compress(b" " * 1_000_001), "1000001 bytes; the limit is 1000000"),
    ],
)
def test_a_request_that_the_endpoint_would_refuse_is_refused(sent: bytes, said: str) -> None:
    with pytest.raises(ApiError, match=said):
        samples(sent, HEADERS, START)


def test_what_an_agent_sends_is_read_as_opentelemetry_reads_it() -> None:
    batch = batches.one(batches.SHAPES[next(iter(batches.SHAPES))])
    (sent,) = requests(batch)

    read = samples(gzip.compress(sent), HEADERS, batch.minute)

    theirs = {
        (name, tuple(sorted(labels(point).items())), point.time_unix_nano / 1e9, point.as_double)
        for name, points in decoded(sent).items()
        for point in points
    }
    ours = {
        (each.metric, tuple(pair for pair in each.labels if pair[0] != "__name__"), each.at, each.value)
        for each in read
    }
    assert ours == theirs
    assert len(ours) > 20


def test_an_agent_s_sink_and_aws_s_client_reach_it_over_http(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    batch = batches.one(batches.SHAPES[next(iter(batches.SHAPES))])
    emulator.call("/_local/clock", {"now": batch.minute + 70})
    cloudwatch = emulator.client("cloudwatch")
    cloudwatch.put_metric_alarm(
        AlarmName="seen",
        EvaluationCriteria={
            "PromQLCriteria": {"Query": "max by (node) (neuron_fleet_node_state) == 1", "PendingPeriod": 0}
        },
        EvaluationInterval=60,
    )

    assert OtlpSink("us-east-2", f"{emulator.url}/v1/metrics").send(batch) == 0
    emulator.call("/_local/clock", {"now": batch.minute + 140})

    (found,) = cloudwatch.describe_alarm_contributors(AlarmName="seen")["AlarmContributors"]
    assert found["ContributorAttributes"] == {"node": batch.log_event["node"]}
