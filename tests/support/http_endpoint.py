"""A local HTTP server that remembers what it was sent and answers what a test tells it to."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One response; ``hang_up`` closes the connection instead."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_up: bool = False


@dataclass(frozen=True)
class Received:
    """One request, its header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Endpoint(ThreadingHTTPServer):
    """Answers ``answers`` in their order, and 200 with an empty body from then on."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *answers: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.received: list[Received] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/metrics"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(Received(self.path, headers, body))
        answer = self.server.answers.pop(0) if self.server.answers else Answer()
        if answer.hang_up:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def endpoint(*answers: Answer) -> Iterator[Endpoint]:
    """A server on a free port, for the time of a test."""
    server = Endpoint(*answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
