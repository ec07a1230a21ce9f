"""The pager's handler over fakes, and AWS around it in virtual time: SNS, Lambda's repetitions, the queue."""

import heapq
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from lambdas.pager import adapters, handler
from lambdas.pager.destinations.sending import HttpPoster, Sign
from lambdas.pager.settings import Settings
from lambdas.shared import observability
from stacks.pager import MOST_TRIES, VISIBILITY_SECONDS
from tests.support.client_shapes import shaped
from tests.support.pager import LambdaContext, Pager

# "Error handling for an asynchronous invocation": two more attempts, after one minute and after two.
LAMBDA_RETRIES = (60.0, 120.0)


@contextmanager
def deployed(pager: Pager, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The handler with its deployed environment variables, over fakes instead of AWS and HTTP."""
    for name, value in pager.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("POWERTOOLS_SERVICE_NAME", raising=False)
    fakes = {
        "logs": pager.logs,
        "secretsmanager": pager.secrets,
        "dynamodb": pager.table,
        "cloudwatch": pager.cloudwatch,
        "sns": pager.inbox,
        "sqs": pager.queue,
    }

    def client(service: str, **_: object) -> Any:
        return shaped(service, fakes[service])

    monkeypatch.setattr(adapters, "boto3", SimpleNamespace(client=client))
    clock = SimpleNamespace(time=pager.now, monotonic=pager.ticker.monotonic, sleep=pager.ticker.sleep)
    monkeypatch.setattr(adapters, "time", clock)
    monkeypatch.setattr(Settings, "load", pager.settings)

    def post(_: HttpPoster, url: str, body: Mapping[str, Any], sign: Sign | None = None) -> None:
        pager.inbox.post(url, body, sign)

    monkeypatch.setattr(HttpPoster, "post", post)
    _forget()
    yield
    _forget()


def _forget() -> None:
    for cached in (handler._settings, handler._dependencies, handler._queue, observability.logger):
        cached.cache_clear()


@dataclass
class Aws:
    """What happens at which virtual second; ``undelivered`` are the messages that were given up."""

    pager: Pager
    undelivered: list[str] = field(default_factory=list)
    invocations: int = 0
    _due: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _order: Iterator[int] = field(default_factory=count)

    def at(self, second: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._due, (second, next(self._order), happens))

    def notify(self, second: float, event: dict[str, Any]) -> None:
        """SNS invokes the function at ``second``."""
        self.at(second, lambda: self._invoke(second, event, LAMBDA_RETRIES))

    def run(self) -> None:
        while self._due:
            second, _, happens = heapq.heappop(self._due)
            self.pager.moment = second
            happens()

    def _invoke(self, second: float, event: dict[str, Any], retries: tuple[float, ...]) -> None:
        self.invocations += 1
        try:
            handler.lambda_handler(event, LambdaContext())
        except Exception:
            if retries:
                again = second + retries[0]
                self.at(again, lambda: self._invoke(again, event, retries[1:]))
            else:
                self._receive(second, json.dumps(event), 1)

    def _receive(self, second: float, body: str, tries: int) -> None:
        """The waiting queue hands its message over for the ``tries``-th time."""
        if tries > MOST_TRIES:
            self.undelivered.append(body)
            return
        self.invocations += 1
        record = {
            "eventSource": "aws:sqs",
            "messageId": "m",
            "receiptHandle": "r",
            "body": body,
            "attributes": {"ApproximateReceiveCount": str(tries)},
        }
        self.pager.queue.hidden_for = VISIBILITY_SECONDS
        if (handler.lambda_handler({"Records": [record]}, LambdaContext()) or {})["batchItemFailures"]:
            again = second + self.pager.queue.hidden_for
            self.at(again, lambda: self._receive(again, body, tries + 1))
