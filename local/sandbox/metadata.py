"""Instance metadata (IMDSv2) of all nodes on one port of this machine: ``/<instance>/latest/…``."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from local.processes import in_thread


@dataclass(slots=True)
class Metadata:
    """``items`` by instance and name below ``meta-data``; a request needs a token that was handed out."""

    items: dict[str, dict[str, str]] = field(default_factory=dict)
    url: str = ""
    _tokens: set[str] = field(default_factory=set)

    def endpoint(self, instance: str) -> str:
        """What an instance has in the place of http://169.254.169.254/latest."""
        return f"{self.url}/{instance}/latest"

    def token(self) -> str:
        """A new one."""
        token = uuid.uuid4().hex
        self._tokens.add(token)
        return token

    def answer(self, path: str, token: str) -> tuple[int, str]:
        """Status and body."""
        if token not in self._tokens:
            return 401, ""
        instance, _, item = path.strip("/").partition("/latest/meta-data/")
        found = self.items.get(instance, {}).get(item)
        return (404, "") if found is None else (200, found)


@contextmanager
def serving() -> Iterator[Metadata]:
    """The service on a free port of 127.0.0.1, until the block ends."""
    metadata = Metadata()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self._send(200, metadata.token())

        def do_GET(self) -> None:
            self._send(*metadata.answer(self.path, self.headers.get("X-aws-ec2-metadata-token", "")))

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

        def _send(self, status: int, text: str) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    metadata.url = f"http://127.0.0.1:{server.server_port}"
    with in_thread(server):
        yield metadata
