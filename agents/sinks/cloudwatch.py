"""PutMetricData. botocore compresses requests above 10 KB by itself."""

from functools import cached_property
from typing import Any, Final

import boto3

from agents.batch import Batch
from agents.sinks import aws
from fleet.metrics import NAMESPACE

# PutMetricData's limit.
_DATUMS_IN_A_REQUEST: Final = 1000
# Older data takes up to two hours to appear, too late for any alarm: the log event has it.
_LONGEST_AGE: Final = 3 * 3600.0


class CloudWatchSink:
    """The classic metrics."""

    name = "metrics"
    longest_age = _LONGEST_AGE
    is_record = False

    def __init__(self, region: str) -> None:
        self._region = region

    def send(self, batch: Batch) -> int:
        """Send the batch's datums."""
        repeated = 0
        for first in range(0, len(batch.metric_data), _DATUMS_IN_A_REQUEST):
            datums = list(batch.metric_data[first : first + _DATUMS_IN_A_REQUEST])
            try:
                response = self._client.put_metric_data(Namespace=NAMESPACE, MetricData=datums)
            except aws.AWS_ERRORS as error:
                raise aws.translated(error) from error
            repeated += aws.retries(response)
        return repeated

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        # A session of its own: boto3's default one may not be used by several threads at once.
        return boto3.session.Session().client("cloudwatch", region_name=self._region, config=aws.CLIENT_CONFIG)
