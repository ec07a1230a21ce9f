"""HTTP to the destinations: short timeouts, few attempts, and no URL in any message, for many are secrets."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Final

import urllib3

from lambdas.pager.errors import DeliveryError

ATTEMPTS: Final = 3
TIMEOUT: Final = urllib3.Timeout(connect=2.0, read=5.0)
BACKOFF_SECONDS: Final = (0.5, 1.5)
TRY_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class HttpPoster:
    """Posts JSON. ``sleep`` waits between attempts."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        # At DEBUG urllib3 writes the path of each request into the log, and Slack's path is the secret.
        logging.getLogger("urllib3").setLevel(logging.WARNING)
        self._pool = urllib3.PoolManager(timeout=TIMEOUT, retries=False)
        self._sleep = sleep

    def post(
        self,
        url: str,
        body: Mapping[str, object],
        sign: Callable[[bytes], Mapping[str, str]] | None = None,
    ) -> None:
        """Post ``body`` to ``url``, with the headers that ``sign`` gives for its bytes; any 2xx answer is success.

        Raises:
            DeliveryError: refused, or not taken after three attempts. The message names no URL.
        """
        sent = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **(sign(sent) if sign else {})}
        answer = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self._sleep(BACKOFF_SECONDS[attempt - 1])
            status, answer = self._attempt(url, sent, headers)
            if 200 <= status < 300:
                return
            if status and status not in TRY_AGAIN:
                raise DeliveryError(f"refused with {answer}")
        raise DeliveryError(f"not taken after {ATTEMPTS} attempts: {answer}")

    def _attempt(self, url: str, sent: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        """The HTTP status (0 when there was no answer) and what to say of it."""
        try:
            response = self._pool.request("POST", url, body=sent, headers=headers, redirect=False)
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            return 0, type(error).__name__
        return response.status, f"HTTP {response.status}"

    def close(self) -> None:
        """Close the connections that are kept for the next page."""
        self._pool.clear()
