"""The account, as far as it can be asked: every call has a time limit, is repeated once, and fails with a finding."""

import threading
from collections.abc import Collection
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
)
from botocore.parsers import ResponseParserError

from cli.account import NO_CREDENTIALS, WITHOUT_CREDENTIALS
from fleet.diagnostics import Diagnostic
from planning.preflight import account as findings

# At most half a minute for a service that accepts connections and says nothing; seconds for one that is not there.
_CONFIG: Final = Config(
    connect_timeout=3,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 2},
    max_pool_connections=20,
)
NO_ANSWER: Final = "no answer"
_DENIED: Final = frozenset({
    "AccessDenied", "AccessDeniedException", "AuthorizationError", "NotAuthorized", "UnauthorizedException",
    "UnauthorizedOperation",
})  # fmt: skip
_BUSY: Final = frozenset({
    "InternalError", "InternalFailure", "InternalServerError", "RequestLimitExceeded", "ServiceUnavailable",
    "ServiceUnavailableException", "Throttling", "ThrottlingException", "TooManyRequestsException", "Unavailable",
})  # fmt: skip


class UnansweredError(Exception):
    """AWS did not answer a question; ``finding`` says so to people, ``code`` is AWS's own, or one of this module."""

    def __init__(self, finding: Diagnostic, code: str, message: str) -> None:
        super().__init__(str(finding))
        self.finding = finding
        self.code = code
        self.message = message


class Account:
    """One region of the account that the person's credentials are of. Several threads may ask."""

    def __init__(self, region: str) -> None:
        """Ask in ``region``; the first question looks for credentials."""
        self.region = region
        self._session: Any = None
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    def ask(self, service: str, method: str, **request: object) -> dict[str, Any]:
        """AWS's answer to one call of a boto3 client.

        Raises:
            UnansweredError: no permission, no answer in time, or a refusal.
        """
        try:
            answer: dict[str, Any] = getattr(self._client(service), method)(**request)
        except (BotoCoreError, ClientError, ResponseParserError, ValueError) as error:
            raise self._unanswered(service, method, error) from error
        return answer

    def find(self, service: str, method: str, absent: Collection[str], **request: object) -> dict[str, Any] | None:
        """As ``ask``; None when AWS answers one of the error codes ``absent``: there is no such thing."""
        try:
            return self.ask(service, method, **request)
        except UnansweredError as error:
            if error.code in absent:
                return None
            raise

    def every(self, service: str, method: str, key: str, **request: object) -> list[dict[str, Any]]:
        """The members ``key`` of every page of an answer; raises as ``ask`` does."""
        try:
            pages = self._client(service).get_paginator(method).paginate(**request)
            return [each for page in pages for each in page.get(key, [])]
        except (BotoCoreError, ClientError, ResponseParserError, ValueError) as error:
            raise self._unanswered(service, method, error) from error

    def _client(self, service: str) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        # A session makes one client at a time; clients may be shared.
        with self._lock:
            if service not in self._clients:
                self._session = self._session or boto3.session.Session()
                self._clients[service] = self._session.client(service, region_name=self.region, config=_CONFIG)
            return self._clients[service]

    def _unanswered(self, service: str, method: str, error: Exception) -> UnansweredError:
        action = self._action(service, method)
        if isinstance(error, ClientError):
            details = error.response.get("Error", {})
            code, message = str(details.get("Code", "")), str(details.get("Message", ""))
            if code in _DENIED:
                finding = findings.not_allowed(action)
            elif code in _BUSY:
                finding = findings.not_answered(action, f"{code}: {message}")
            else:
                finding = findings.not_understood(action, f"{code}: {message}")
            return UnansweredError(finding, code, message)
        if isinstance(error, WITHOUT_CREDENTIALS):
            return UnansweredError(findings.no_credentials(str(error)), NO_CREDENTIALS, str(error))
        return UnansweredError(findings.not_answered(action, str(error)), NO_ANSWER, str(error))

    def _action(self, service: str, method: str) -> str:
        """As a policy writes it: servicequotas:GetServiceQuota."""
        client = self._clients.get(service)
        if client is None:
            return f"{service}:{method}"
        model = client.meta.service_model
        return f"{model.signing_name}:{client.meta.method_to_api_mapping.get(method, method)}"
