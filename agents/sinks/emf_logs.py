"""PutLogEvents: the node's log event, one stream for each node."""

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from agents.errors import SinkRejectedError
from agents.minute.batch import Batch
from agents.sinks import aws

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_logs.type_defs import PutLogEventsResponseTypeDef

# CloudWatch Logs takes nothing older than 14 days.
_LONGEST_AGE: Final = 14 * 86400.0


class EmfLogsSink:
    """The node log. The group belongs to the deployment; the stream is made when it is first missing."""

    name = "logs"
    longest_age = _LONGEST_AGE
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
