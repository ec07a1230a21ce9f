"""Connections of a load balancer to its targets: it keeps them, and asks again over the same."""

from contextlib import closing
from http.client import HTTPConnection

Address = tuple[str, int]


def connected(at: Address) -> closing[HTTPConnection]:
    """One that is closed after its use."""
    return closing(HTTPConnection(*at, timeout=10))


def ask(connection: HTTPConnection, path: str) -> tuple[int, str, float]:
    """Status, body, and what the model would have taken, in seconds."""
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), float(answer.headers["X-Model-Seconds"])


class KeptConnections:
    """One for every target that was asked, for one thread."""

    def __init__(self) -> None:
        self._of: dict[Address, HTTPConnection] = {}

    def to(self, target: Address) -> HTTPConnection:
        if target not in self._of:
            self._of[target] = HTTPConnection(*target, timeout=10)
        return self._of[target]

    def close(self) -> None:
        for connection in self._of.values():
            connection.close()
