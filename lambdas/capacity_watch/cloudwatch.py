"""What the agents of a fleet publish: how many of them speak, and how far the cores of a job are apart.

Each metric that is returned is paid for, so jobs are only searched for where the fleet's own extremes are far apart.
Source: "CloudWatch search expression syntax"; a dynamic label applies to every series that a search finds.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from fleet import metrics
from fleet.lateness import LATE_MINUTES
from fleet.metrics import MetricSpec
from fleet.reserved.assessment import HEARD_MINUTES, agents_heard
from fleet.reserved.observed import FleetDeployment
from fleet.stragglers import may_straggle, points_apart

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef, MetricStatTypeDef

_SPEC: Final = metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING
_JOB: Final = f"${{PROP('Dim.{metrics.JOB_ID}')}}"


class AgentHeartbeats:
    """The agents' own metric."""

    def __init__(self, cloudwatch: "CloudWatchClient") -> None:
        self._cloudwatch = cloudwatch

    def of(self, place: FleetDeployment, now: datetime) -> int:
        """Agents that spoke in the newest minutes that are complete, however late their heartbeats come."""
        end = _whole(now)
        answer = self._cloudwatch.get_metric_data(
            MetricDataQueries=[{"Id": "heartbeats", "MetricStat": _of_fleet(place, metrics.AGENT_HEARTBEAT, "Sum")}],
            StartTime=end - timedelta(minutes=HEARD_MINUTES),
            EndTime=end,
        )
        return agents_heard(answer["MetricDataResults"][0]["Values"])


class JobPaces:
    """The agents' utilization of cores in state RUNNING, by fleet and by job."""

    def __init__(self, cloudwatch: "CloudWatchClient") -> None:
        self._cloudwatch = cloudwatch

    def of(self, place: FleetDeployment, now: datetime) -> float | None:
        """Points that a core is behind its own job's median, in the newest minute that is complete.

        None where no job runs, or no two cores are far enough apart to ask.
        """
        fleet = self._asked([_extreme(place, statistic) for statistic in ("Maximum", "Minimum")], now)
        ends = [values for each in fleet.values() for values in each.values()]
        if len(ends) < len(fleet) or not may_straggle(max(ends), min(ends)):
            return None
        jobs = self._asked([_of_jobs(place, statistic) for statistic in ("p50", "Minimum")], now)
        medians, lowest = jobs["p50"], jobs["minimum"]
        return points_apart((medians[job], lowest[job]) for job in medians.keys() & lowest.keys())

    def _asked(self, queries: "list[MetricDataQueryTypeDef]", now: datetime) -> Mapping[str, Mapping[str, float]]:
        """By the query's id and the label of each series, its value; a series without one is left out."""
        end = _whole(now)
        answer = self._cloudwatch.get_metric_data(
            MetricDataQueries=queries, StartTime=end - timedelta(minutes=1), EndTime=end
        )
        found: dict[str, dict[str, float]] = {query["Id"]: {} for query in queries}
        for each in answer["MetricDataResults"]:
            if each["Values"]:
                found[each["Id"]][each["Label"]] = each["Values"][0]
        return found


def _whole(now: datetime) -> datetime:
    """The end of the newest minute that every node has sent, and that can be seen however late that is."""
    return now.replace(second=0, microsecond=0) - timedelta(minutes=1 + LATE_MINUTES)


def _of_fleet(place: FleetDeployment, spec: MetricSpec, statistic: str) -> "MetricStatTypeDef":
    dimensions = {metrics.ENVIRONMENT: place.environment, metrics.FLEET: place.fleet}
    return {
        "Metric": {
            "Namespace": metrics.NAMESPACE,
            "MetricName": spec.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
        },
        "Period": metrics.PERIOD_SECONDS,
        "Stat": statistic,
    }


def _extreme(place: FleetDeployment, statistic: str) -> "MetricDataQueryTypeDef":
    return {"Id": statistic.lower(), "MetricStat": _of_fleet(place, _SPEC, statistic)}


def _of_jobs(place: FleetDeployment, statistic: str) -> "MetricDataQueryTypeDef":
    schema = ",".join((metrics.NAMESPACE, *metrics.JOB_DIMENSIONS))
    terms = f'MetricName="{_SPEC.name}" {metrics.ENVIRONMENT}="{place.environment}" {metrics.FLEET}="{place.fleet}"'
    search = f"SEARCH('{{{schema}}} {terms}', '{statistic}')"
    return {"Id": statistic.lower(), "Expression": search, "Label": _JOB, "Period": metrics.PERIOD_SECONDS}
