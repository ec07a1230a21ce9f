"""AWS, as commands see it: asked through here, with a time limit for every call."""

import threading
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import count
from typing import Any, ClassVar, Final, ParamSpec, TypeVar

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

from cli.clients import Clients
from planning.preflight.account import no_answer, no_credentials

_READING: Final = Config(connect_timeout=3, read_timeout=15, retries={"mode": "standard", "total_max_attempts": 3})
# What starts or buys something is said once; whether it was heard is looked up, and not guessed.
_ONCE: Final = Config(connect_timeout=3, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 1})
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "UnauthorizedException"})
_NEVER_SENT: Final = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError, SSLError)
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


P = ParamSpec("P")
T = TypeVar("T")


class Account(Clients):
    """One region of the account that the person's credentials are of, by its clients. Several threads may ask.

    Every call raises ``AwsError`` when it was refused, or not answered in time. What may be repeated is asked of the
    account's own clients; those of ``once`` make a call once.
    """

    reading: ClassVar[Config] = _READING
    most_pages: ClassVar[int | None] = 50

    def __init__(self, region: str) -> None:
        """Ask in ``region``; the first call looks for credentials."""
        super().__init__(partial(self._call, once=False), self._pages)
        self.once = Clients(partial(self._call, once=True), self._pages)
        self.region = region
        self._session: boto3.Session | None = None
        self._clients: dict[tuple[str, bool], Any] = {}
        self._lock = threading.Lock()

    def find(self, absent: Collection[str], call: Callable[P, T], *args: P.args, **request: P.kwargs) -> T | None:
        """What one of the clients' methods answers; None when it is one of the codes ``absent``: no such thing."""
        try:
            return call(*args, **request)
        except AwsError as error:
            if error.code in absent:
                return None
            raise

    def _call(self, service: str, method: str, /, *, once: bool, **request: object) -> Any:  # noqa: ANN401 - boto3's
        try:
            return getattr(self._client(service, once=once), method)(**request)
        except (BotoCoreError, ClientError, ResponseParserError, ValueError) as error:
            raise self._explained(error, service, method) from error

    def _pages(self, service: str, method: str, /, **request: object) -> Iterator[Any]:
        """Every page; raises as a call does, and when there is no end to them."""
        for _ in count() if self.most_pages is None else range(self.most_pages):
            page = self._call(service, method, once=False, **request)
            yield page
            name = next((each for each in ("nextToken", "NextToken") if page.get(each)), None)
            if name is None:
                return
            request[name] = page[name]
        raise AwsError(f"{service}:{method} goes on after {self.most_pages} pages, and what is missing would not show")

    def _client(self, service: str, *, once: bool = False) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        # A session makes one client at a time; clients may be shared.
        with self._lock:
            if (service, once) not in self._clients:
                self._session = self._session or boto3.Session(region_name=self.region)
                make: Any = self._session.client
                self._clients[service, once] = make(service, config=_ONCE if once else self.reading)
            return self._clients[service, once]

    def _explained(self, error: Exception, service: str, method: str) -> AwsError:
        return explained(error, f"{service}:{method}", self.region)


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
