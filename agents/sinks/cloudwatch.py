"""CloudWatch: datums by PutMetricData, and the node's log event by PutLogEvents, one stream for each node.

botocore compresses requests above 10 KB by itself.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from agents.minute.batch import Batch, Datum
from agents.sinks import aws
from fleet.metrics import NAMESPACE

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
import json
from typing import TYPE_CHECKING

from agents.errors import SinkRejectedError

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_logs.type_defs import PutLogEventsResponseTypeDef


# PutMetricData's limits: 1,000 datums and 1 MB a request. Whether the megabyte is counted before or after compression
# is not documented, so it is taken as before; the rest of the megabyte is for the request around the datums.
_DATUMS_IN_A_REQUEST: Final = 1000
_BYTES_IN_A_REQUEST: Final = 900_000
# Older data takes up to two hours to appear, too late for any alarm: the log event has it.
_LONGEST_AGE: Final = 3 * 3600.0
# Batches of which a part was taken before a request failed; more than a few at once means that nothing works.
_REMEMBERED: Final = 64
# CloudWatch Logs takes nothing older than 14 days.
_LOGS_LONGEST_AGE: Final = 14 * 86400.0


class CloudWatchSink:
    """The classic metrics."""

    name = "metrics"
    longest_age = _LONGEST_AGE
    is_record = False

    def __init__(self, region: str, session: aws.Session | None = None) -> None:
        self._region = region
        self._session = session
        self._taken: dict[tuple[int, int], int] = {}

    def part(self, batch: Batch) -> Batch:
        """The datums."""
        return replace(batch, log_event={})

    def send(self, batch: Batch) -> int:
        """Send the batch's datums; of a batch that failed half way, only the requests that were not confirmed."""
        key, repeated = (batch.minute, batch.seq), 0
        taken = self._taken.pop(key, 0)
        for index, datums in enumerate(requests(batch.metric_data)):
            if index < taken:
                continue
            try:
                response = self._client.put_metric_data(Namespace=NAMESPACE, MetricData=datums)
            except aws.AWS_ERRORS as error:
                self._remember(key, index)
                raise aws.translated(error) from error
            repeated += aws.retries(response)
        return repeated

    def _remember(self, key: tuple[int, int], taken: int) -> None:
        if taken:
            self._taken[key] = taken
            while len(self._taken) > _REMEMBERED:
                del self._taken[next(iter(self._taken))]

    @cached_property
    def _client(self) -> "CloudWatchClient":
        session = self._session or aws.Session()
        return session.client("cloudwatch", region_name=self._region, config=aws.CLIENT_CONFIG)


def requests(datums: tuple[Datum, ...]) -> Iterator[list[Datum]]:
    """``datums`` in their order, cut where a request would be too long or too large."""
    part: list[Datum] = []
    size = 0
    for datum in datums:
        added = len(msgspec.json.encode(datum)) + 1
        if part and (len(part) == _DATUMS_IN_A_REQUEST or size + added > _BYTES_IN_A_REQUEST):
            yield part
            part, size = [], 0
        part.append(datum)
        size += added
    if part:
        yield part


class EmfLogsSink:
    """The node log. The group belongs to the deployment; the stream is made when it is first missing."""

    name = "logs"
    longest_age = _LOGS_LONGEST_AGE
    is_record = True

    def __init__(self, region: str, log_group: str, session: aws.Session | None = None) -> None:
        self._region = region
        self._session = session
        self._log_group = log_group

    def part(self, batch: Batch) -> Batch:
        """The log event."""
        return replace(batch, metric_data=())

    def send(self, batch: Batch) -> int:
        """Send the batch's log event."""
        try:
            response = self._put_or_create(batch)
        except aws.AWS_ERRORS as error:
            raise aws.translated(error) from error
        rejected = response.get("rejectedLogEventsInfo")
        if rejected:
            raise SinkRejectedError(f"the log event was refused: {rejected}")
        return aws.retries(response)

    def _put_or_create(self, batch: Batch) -> "PutLogEventsResponseTypeDef":
        try:
            return self._put(batch)
        except aws.AWS_ERRORS as error:
            if aws.code(error) != "ResourceNotFoundException":
                raise
        try:
            self._client.create_log_stream(logGroupName=self._log_group, logStreamName=batch.stream)
        except aws.AWS_ERRORS as error:
            if aws.code(error) != "ResourceAlreadyExistsException":
                raise
        return self._put(batch)

    def _put(self, batch: Batch) -> "PutLogEventsResponseTypeDef":
        message = json.dumps(batch.log_event, separators=(",", ":"))
        return self._client.put_log_events(
            logGroupName=self._log_group,
            logStreamName=batch.stream,
            logEvents=[{"timestamp": batch.minute * 1000, "message": message}],
        )

    @cached_property
    def _client(self) -> "CloudWatchLogsClient":
        session = self._session or aws.Session()
        return session.client("logs", region_name=self._region, config=aws.CLIENT_CONFIG)
