"""Series to an OTLP endpoint: CloudWatch's own, which takes PromQL and bills by the byte, or another.

Off unless the configuration asks for it; docs/prometheus.md says what it costs. What the endpoint asks for is from
AWS's user guide, "OTLP Endpoints": POST to https://monitoring.<region>.amazonaws.com/v1/metrics, signed for the
service ``monitoring``, JSON or Protocol Buffers, gzip or none, at most 14 days old. It needs cloudwatch:PutMetricData
under no condition that asks for a namespace, because these series have none.
"""

import gzip
import json
import logging
import time
from collections.abc import Callable
from functools import cached_property
from http import HTTPStatus
from math import isfinite
from typing import Final

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest, AWSResponse
from botocore.exceptions import BotoCoreError, HTTPClientError
from botocore.httpsession import URLLib3Session
from botocore.utils import get_environ_proxies

from agents.errors import SinkError, SinkRejectedError
from agents.minute.batch import Batch
from agents.sinks.otlp_requests import requests
from agents.sinks.series.levels import Level

logger = logging.getLogger(__name__)
_SERVICE: Final = "monitoring"
# The endpoint takes 14 days. A day is what a spool can hold without taking the room of the log events, which are the
# record.
_LONGEST_AGE: Final = 86400.0
_CONNECT_SECONDS: Final = 2
_READ_SECONDS: Final = 5
_ATTEMPTS: Final = 2
# What the endpoint may ask the agent to wait, seconds: without a wish, and at most.
_PAUSE: Final = 30.0
_LONGEST_PAUSE: Final = 300.0
_SAID: Final = 200
_BUSY: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
# The request may be right and its sender not, or not yet.
_MAY_PASS: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.REQUEST_TIMEOUT})


class OtlpSink:
    """The series of each minute. ``ticks`` are seconds of a clock that never goes back."""

    name = "otlp"
    longest_age = _LONGEST_AGE
    is_record = False

    def __init__(
        self,
        region: str,
        endpoint: str | None = None,
        ticks: Callable[[], float] = time.monotonic,
        level: Level = Level.CORES,
    ) -> None:
        self._level = level
        self._region = region
        self._endpoint = endpoint or cloudwatch_endpoint(region)
        self._ticks = ticks
        self._not_before = 0.0

    def part(self, batch: Batch) -> Batch:
        """All of it: cores and devices are in the log event, the rest in the datums."""
        return batch

    def send(self, batch: Batch) -> int:
        """Send the batch's series in as many requests as they need."""
        if self._ticks() < self._not_before:
            raise SinkError(f"{self._endpoint} asked for patience")
        repeated = 0
        refused: list[str] = []
        for body in requests(batch, level=self._level):
            response, calls = self._posted(gzip.compress(body, compresslevel=6, mtime=0))
            repeated += calls - 1
            refused.extend(self._refusals(response))
        if refused:
            # What was valid has been taken; the rest must not be sent again (OTLP specification, "Partial Success").
            raise SinkRejectedError(f"{self._endpoint} {'; '.join(refused)}")
        return repeated

    def _posted(self, body: bytes) -> tuple[AWSResponse, int]:
        """The response, and how many calls it took: one that broke off is made again at once."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                response = self._http.send(self._signed(body))
            except (BotoCoreError, HTTPClientError) as error:
                if attempt == _ATTEMPTS:
                    raise SinkError(str(error)) from error
                continue
            if response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR or response.status_code in _BUSY:
                return response, attempt
        return response, _ATTEMPTS

    def _signed(self, body: bytes) -> AWSPreparedRequest:
        credentials = self._session.get_credentials()
        if credentials is None:
            raise SinkError("there are no AWS credentials to sign with")
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        request = AWSRequest(method="POST", url=self._endpoint, data=body, headers=headers)
        SigV4Auth(credentials.get_frozen_credentials(), _SERVICE, self._region).add_auth(request)
        return request.prepare()

    def _refusals(self, response: AWSResponse) -> list[str]:
        """What of the request will never be taken, in words; raises where it may be taken later."""
        status = response.status_code
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            return _partial(response)
        said = f"answered {status}: {_text(response)}"
        if status in _BUSY:
            self._not_before = self._ticks() + _pause(response.headers.get("Retry-After"))
        elif HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _MAY_PASS:
            return [said]
        raise SinkError(f"{self._endpoint} {said}")

    @cached_property
    def _session(self) -> botocore.session.Session:
        return botocore.session.Session()

    @cached_property
    def _http(self) -> URLLib3Session:
        return URLLib3Session(
            verify=self._session.get_config_variable("ca_bundle") or True,
            proxies=get_environ_proxies(self._endpoint),
            timeout=(_CONNECT_SECONDS, _READ_SECONDS),  # type: ignore[arg-type] # it takes a pair, too
            max_pool_connections=1,
        )


def cloudwatch_endpoint(region: str) -> str:
    """The metrics endpoint of ``region``."""
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://monitoring.{region}.{suffix}/v1/metrics"


def _partial(response: AWSResponse) -> list[str]:
    """What a 200 says of data points that were not taken (``partialSuccess``)."""
    try:
        partial = json.loads(response.content or b"{}").get("partialSuccess") or {}
        count = int(partial.get("rejectedDataPoints") or 0)
    except (ValueError, AttributeError, TypeError):
        logger.debug("the answer of the OTLP endpoint is not JSON")
        return []
    said = str(partial.get("errorMessage") or "")[:_SAID]
    if count == 0 and said:
        logger.warning("the OTLP endpoint took everything and says: %s", said)
    return [f"refused {count} data points: {said}"] if count else []


def _pause(wish: str | None) -> float:
    # In seconds. A date, the other form that HTTP knows, would need the wall clock of both sides to agree.
    try:
        seconds = float(wish or _PAUSE)
    except ValueError:
        seconds = _PAUSE
    return min(max(0.0, seconds), _LONGEST_PAUSE) if isfinite(seconds) else _PAUSE


def _text(response: AWSResponse) -> str:
    text: str = response.content.decode("utf-8", "replace")
    return " ".join(text[:_SAID].split()) or "nothing else"
