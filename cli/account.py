"""AWS, as most commands see it: asked through here, with a time limit for every call."""

from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    ProxyConnectionError,
    SSLError,
    SSOError,
    TokenRetrievalError,
)
from botocore.parsers import ResponseParserError

from planning.preflight.account import no_answer, no_credentials

_READING: Final = Config(connect_timeout=3, read_timeout=15, retries={"mode": "standard", "total_max_attempts": 3})
# What starts or buys something is said once; whether it was heard is looked up, and not guessed.
_ONCE: Final = Config(connect_timeout=3, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 1})
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "UnauthorizedException"})
_NEVER_SENT: Final = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError, SSLError)
_PAGES: Final = 50
NO_CREDENTIALS: Final = "no credentials"
WITHOUT_CREDENTIALS: Final = (
    CredentialRetrievalError, NoCredentialsError, PartialCredentialsError, ProfileNotFound, SSOError,
    TokenRetrievalError,
)  # fmt: skip
# What STS and others answer to credentials that they do not take.
NOT_TAKEN: Final = frozenset({
    "AuthFailure", "ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidClientTokenId",
    "RequestExpired", "SignatureDoesNotMatch", "UnrecognizedClientException",
})  # fmt: skip


class AwsError(Exception):
    """AWS did not do it; one line for the person who asked. ``is_lost``: it may have done it all the same."""

    def __init__(self, message: str, code: str = "", *, is_lost: bool = False) -> None:
        super().__init__(message)
        self.code, self.is_lost = code, is_lost


class Account:
    """One region of the account that the person's credentials are of."""

    def __init__(self, region: str) -> None:
        """Ask in ``region``; the first call looks for credentials."""
        self.region = region
        self._clients: dict[tuple[str, bool], Any] = {}

    def ask(self, service: str, method: str, **request: object) -> dict[str, Any]:
        """The answer to a call that may be repeated.

        Raises:
            AwsError: it was refused, or not answered in time.
        """
        return self._call(service, method, request, once=False)

    def once(self, service: str, method: str, **request: object) -> dict[str, Any]:
        """The answer to a call that is made once; raises as ``ask`` does."""
        return self._call(service, method, request, once=True)

    def find(self, service: str, method: str, absent: tuple[str, ...], **request: object) -> dict[str, Any] | None:
        """As ``ask``; None when AWS answers one of the error codes ``absent``: there is no such thing."""
        try:
            return self.ask(service, method, **request)
        except AwsError as error:
            if error.code in absent:
                return None
            raise

    def every(self, service: str, method: str, key: str, **request: object) -> list[dict[str, Any]]:
        """The members ``key`` of every page; raises as ``ask`` does, and when there is no end to them."""
        found: list[dict[str, Any]] = []
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = self.ask(service, method, **request, **more)
            found += page.get(key, [])
            name = next((each for each in ("nextToken", "NextToken") if page.get(each)), None)
            if name is None:
                return found
            more = {name: page[name]}
        raise AwsError(f"{service}:{method} goes on after {_PAGES} pages, and what is missing would not show")

    def _call(self, service: str, method: str, request: dict[str, object], *, once: bool) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = getattr(self._client(service, once), method)(**request)
        except (BotoCoreError, ClientError, ResponseParserError, ValueError) as error:
            raise explained(error, f"{service}:{method}", self.region) from error
        return answer

    def _client(self, service: str, once: bool) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        if (service, once) not in self._clients:
            session: Any = boto3.session.Session()
            config = _ONCE if once else _READING
            self._clients[service, once] = session.client(service, region_name=self.region, config=config)
        return self._clients[service, once]


def explained(error: Exception, action: str, region: str) -> AwsError:
    """What an exception of boto3 says to people, with its remedy: the same words in every command."""
    code = str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""
    if isinstance(error, WITHOUT_CREDENTIALS) or code in NOT_TAKEN:
        finding = no_credentials(str(error).partition(" operation: ")[2] or str(error))
        return AwsError(f"{finding.message}; {finding.fix}", code or NO_CREDENTIALS)
    if isinstance(error, ClientError):
        return _refused(action, error)
    if isinstance(error, _NEVER_SENT):
        return AwsError(f"AWS did not answer {action} in {region}: {error}; {no_answer('', region, '').fix}")
    return AwsError(f"AWS did not answer {action}: {error}", is_lost=_was_sent(error))


def has_no_credentials(error: AwsError) -> bool:
    """Whether nothing else can be asked either."""
    return error.code == NO_CREDENTIALS or error.code in NOT_TAKEN


def _was_sent(error: Exception) -> bool:
    return isinstance(error, HTTPClientError | ResponseParserError) and not isinstance(error, _NEVER_SENT)


def _refused(action: str, error: ClientError) -> AwsError:
    details = error.response.get("Error", {})
    code, message = str(details.get("Code", "")), str(details.get("Message", ""))
    if code in _DENIED:
        return AwsError(f"these credentials may not call {action}: {message}", code)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    # A server that failed may have failed after it did what it was asked.
    return AwsError(f"AWS refused {action}: {code}: {message}", code, is_lost=status >= 500)
