"""How many agents of a fleet speak: one call of GetMetricData."""

from datetime import datetime, timedelta

from fleet import metrics
from fleet.reserved.assessment import HEARD_MINUTES, agents_heard
from fleet.reserved.observed import Place
from lambdas.capacity_watch.clients import CloudWatchClient


class AgentHeartbeats:
    """The agents' own metric."""

    def __init__(self, cloudwatch: CloudWatchClient) -> None:
        self._cloudwatch = cloudwatch

    def of(self, place: Place, now: datetime) -> int:
        """Agents that spoke in the newest minutes; the one before ``now`` is left out, for it may still arrive."""
        end = now.replace(second=0, microsecond=0) - timedelta(minutes=1)
        dimensions = {metrics.ENVIRONMENT: place.environment, metrics.FLEET: place.fleet}
        metric = {
            "Namespace": metrics.NAMESPACE,
            "MetricName": metrics.AGENT_HEARTBEAT.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
        }
        answer = self._cloudwatch.get_metric_data(
            MetricDataQueries=[
                {"Id": "heartbeats", "MetricStat": {"Metric": metric, "Period": metrics.PERIOD_SECONDS, "Stat": "Sum"}}
            ],
            StartTime=end - timedelta(minutes=HEARD_MINUTES),
            EndTime=end,
        )
        return agents_heard(answer["MetricDataResults"][0]["Values"])
