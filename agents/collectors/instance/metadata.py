"""The instance metadata service (IMDSv2): a client for what the node is, and for what AWS has in store for it."""

import logging
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import Final

from agents.errors import MetadataError

logger = logging.getLogger(__name__)
_ENDPOINT: Final = "http://169.254.169.254/latest"
_TIMEOUT: Final = 1.0
_LARGEST_ANSWER: Final = 64 * 1024
# The longest that AWS grants is six hours; a token is renewed well before its end.
_TOKEN_SECONDS: Final = 21600
_TOKEN_KEPT_SECONDS: Final = 18000
_UNAUTHORIZED: Final = 401
_NOT_FOUND: Final = 404
_FIRST_SERVER_ERROR: Final = 500
_ATTEMPTS: Final = 2


class InstanceMetadata:
    """Reads single items, with a token that is kept until it ends. For one thread."""

    def __init__(
        self,
        endpoint: str = _ENDPOINT,
        timeout: float = _TIMEOUT,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """``endpoint`` ends in the version; ``timeout`` is seconds of silence that end a request."""
        self._endpoint = endpoint.rstrip("/")
        self._timeout = timeout
        self._elapsed = elapsed
        self._token = ""
        self._token_until = 0.0
        # Without a proxy: the address is link-local.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(self, item: str) -> str | None:
        """``meta-data/<item>`` without the white space around it; None where there is no such item.

        Raises:
            MetadataError: no answer in time, a refusal, or an answer that is not text of a reasonable size.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._request(f"meta-data/{item}", {"X-aws-ec2-metadata-token": self._valid_token()})
            except urllib.error.HTTPError as error:
                # An HTTPError is also the open answer.
                error.close()
                if error.code == _NOT_FOUND:
                    return None
                if error.code == _UNAUTHORIZED:
                    # The service forgets tokens when the instance is stopped and started.
                    self._token = ""
                elif error.code < _FIRST_SERVER_ERROR:
                    raise MetadataError(f"instance metadata: {item}: HTTP {error.code}") from error
                if attempt == _ATTEMPTS:
                    raise MetadataError(f"instance metadata: {item}: HTTP {error.code}, twice") from error
            except (OSError, HTTPException, UnicodeDecodeError) as error:
                # Silence is not asked again: the next item would wait as long.
                raise MetadataError(f"instance metadata: {item}: {_words(error)}") from error
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _valid_token(self) -> str:
        if not self._token or self._elapsed() >= self._token_until:
            headers = {"X-aws-ec2-metadata-token-ttl-seconds": str(_TOKEN_SECONDS)}
            self._token = self._request("api/token", headers, method="PUT")
            self._token_until = self._elapsed() + _TOKEN_KEPT_SECONDS
        return self._token

    def _request(self, path: str, headers: dict[str, str], method: str = "GET") -> str:
        request = urllib.request.Request(  # noqa: S310 - the http address of the host itself, from the configuration
            f"{self._endpoint}/{path}", method=method, headers=headers
        )
        with self._opener.open(request, timeout=self._timeout) as response:
            data: bytes = response.read(_LARGEST_ANSWER + 1)
        if len(data) > _LARGEST_ANSWER:
            raise HTTPException("the answer is larger than 64 KiB")
        return data.decode("utf-8").strip()


def instance_id(endpoint: str = _ENDPOINT) -> str:
    """This instance's id; empty where there is no instance metadata. Asked once, at start."""
    if not endpoint:
        return ""
    try:
        return InstanceMetadata(endpoint).get("instance-id") or ""
    except MetadataError as error:
        logger.warning("no instance id: %s", error)
        return ""


def _words(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(reason) or type(error).__name__
