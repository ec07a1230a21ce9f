"""One Logs Insights query, waited for no longer than its caller can."""

from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient

_UNFINISHED: Final = frozenset({"Scheduled", "Running", "Unknown"})


class LogQueryError(Exception):
    """The query ended otherwise than complete, or took too long; the message holds nothing of what was asked."""


class Ticker(Protocol):
    """Elapsed seconds, and a way to let some pass."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""

    def sleep(self, seconds: float, /) -> None:
        """Wait."""


class LogQuery:
    """Queries of one log group; each may take ``budget`` seconds, and is looked at every ``pause`` seconds."""

    def __init__(
        self, logs: "CloudWatchLogsClient", log_group: str, ticker: Ticker, *, budget: float, pause: float
    ) -> None:
        self._logs, self._log_group, self._ticker = logs, log_group, ticker
        self._budget, self._pause = budget, pause

    def rows(self, query: str, start: datetime, end: datetime) -> list[dict[str, str]]:
        """The rows of [start, end], each with its values by field.

        Raises:
            LogQueryError: it failed, or took longer than the budget; it is then stopped.
            BotoCoreError, ClientError: as boto3's client raises them.
        """
        deadline = self._ticker.monotonic() + self._budget
        query_id = self._logs.start_query(
            logGroupName=self._log_group,
            startTime=int(start.timestamp()),
            endTime=int(end.timestamp()),
            queryString=query,
        )["queryId"]
        while True:
            answer = self._logs.get_query_results(queryId=query_id)
            if answer["status"] == "Complete":
                return [{field["field"]: field["value"] for field in row} for row in answer["results"]]
            if answer["status"] not in _UNFINISHED:
                raise LogQueryError(f"the log query ended as {answer['status']}")
            if self._ticker.monotonic() + self._pause > deadline:
                self._logs.stop_query(queryId=query_id)
                raise LogQueryError(f"the log query took longer than {self._budget:g} s")
            self._ticker.sleep(self._pause)
