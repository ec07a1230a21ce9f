"""The account, as far as it can be asked: every call has a time limit, is repeated once, and fails with a finding."""

from typing import Final

from botocore.config import Config
from botocore.exceptions import ClientError

from cli.account import NO_CREDENTIALS, WITHOUT_CREDENTIALS, Account, AwsError
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


class UnansweredError(AwsError):
    """AWS did not answer a question; ``finding`` says so to people, ``code`` is AWS's own, or one of this module."""

    def __init__(self, finding: Diagnostic, code: str, message: str) -> None:
        super().__init__(str(finding), code)
        self.finding = finding
        self.message = message


class DoctorAccount(Account):
    """The account whose every failure is a finding."""

    reading = _CONFIG
    most_pages = None

    def _explained(self, error: Exception, service: str, method: str) -> UnansweredError:
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
        client = self._clients.get((service, False))
        if client is None:
            return f"{service}:{method}"
        model = client.meta.service_model
        return f"{model.signing_name}:{client.meta.method_to_api_mapping.get(method, method)}"
