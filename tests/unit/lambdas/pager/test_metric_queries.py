"""Whether the environment was being changed when the alarm came: known, known not to be, and not known."""

import time
from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest
from botocore.exceptions import ConnectTimeoutError

from fleet import operations_metrics
from lambdas.pager.enrichment import meanwhile
from lambdas.pager.errors import EnrichmentError
from lambdas.pager.metric_queries import ChangeMetrics, newest_changes, wording
from tests.support.aws_fakes import FakeMetrics
from tests.support.client_shapes import shaped
from tests.support.pager import AT, Pager, alarm_change, history


def minutes(*ago: int, count: float = 1.0) -> dict[datetime, float]:
    return {AT - timedelta(minutes=minute): count for minute in ago}


def said(deployment: Mapping[datetime, float], rollout: Mapping[datetime, float] | None = None) -> str | None:
    return wording(newest_changes({"deployment": deployment, "rollout": rollout or {}}, AT), AT)


QUIET = minutes(*range(30), count=0.0)


def test_a_deployment_goes_on_though_the_watch_skips_a_look() -> None:
    looks = minutes(*range(10, 30), count=0.0) | minutes(9, 8, 6, 4, 3)

    assert said(looks) == "a deployment is in progress since 03:32 UTC"
    assert said(looks | minutes(1, count=0.0)) == "a deployment ended at 03:39 UTC"


def test_one_that_may_be_older_than_the_window_has_no_beginning() -> None:
    assert said(minutes(*range(30))) == "a deployment is in progress since before 03:12 UTC"


def test_nothing_changed_is_said_and_nothing_known_is_not() -> None:
    assert said(QUIET) == "no deployment and no rollout in the 30 minutes before"
    assert said({}) is None


def test_both_kinds_are_named_and_one_that_fell_silent_is_not_over() -> None:
    assert said(QUIET | minutes(12, 11), minutes(20, 19)) == (
        "a deployment ended at 03:31 UTC; a rollout was last heard of at 03:22 UTC, and its end was not told"
    )


def test_cloudwatch_is_asked_once_for_the_maximum_of_both() -> None:
    client = FakeMetrics()

    ChangeMetrics(shaped("cloudwatch", client), "prod").before(AT)

    (request,) = client.asked
    assert (request["StartTime"], request["EndTime"]) == (AT - timedelta(minutes=30), AT)
    stats = [query["MetricStat"] for query in request["MetricDataQueries"]]
    assert [stat["Metric"]["MetricName"] for stat in stats] == ["DeploymentsInProgress", "RolloutsInProgress"]
    assert {stat["Stat"] for stat in stats} == {"Maximum"}
    assert {stat["Metric"]["Namespace"] for stat in stats} == {operations_metrics.NAMESPACE}
    assert all(stat["Metric"]["Dimensions"] == [{"Name": "Environment", "Value": "prod"}] for stat in stats)


def test_without_an_answer_the_page_goes_out_without_the_line() -> None:
    failing = FakeMetrics(error=ConnectTimeoutError(endpoint_url="https://monitoring"))
    pager = Pager(cloudwatch=failing).seen(*history("i-a", {20: {"wasted_usd_per_hour": 9.0}}))
    pager.handle(alarm_change())

    details = pager.inbox.pagerduty[0]["payload"]["custom_details"]
    assert "changes" not in details
    assert "missing" not in details
    assert details["money"].startswith("$9.00")
    with pytest.raises(EnrichmentError, match="ConnectTimeoutError"):
        ChangeMetrics(shaped("cloudwatch", failing), "prod").before(AT)


def test_what_takes_too_long_or_fails_is_none_and_holds_nothing_back() -> None:
    def fails() -> str:
        raise EnrichmentError("no answer")

    slow = meanwhile(0.05, lambda: time.sleep(5))

    assert meanwhile(5, lambda: "found")() == "found"
    assert meanwhile(5, fails)() is None
    assert slow() is None
