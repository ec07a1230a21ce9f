"""An instance metadata service of our own, whose answers a test sets."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class MetadataService:
    """What is answered: ``items`` by name below meta-data, and how often what was asked.

    ``statuses`` are HTTP errors by item, taken from the front and each used once. ``silent`` items never answer while
    ``gate`` is closed. ``tokens`` counts those that were handed out; only the newest is valid.
    """

    def __init__(self) -> None:
        self.items: dict[str, str] = {"instance-id": "i-0123\n"}
        self.statuses: dict[str, list[int]] = {}
        self.silent: set[str] = set()
        self.gate = threading.Event()
        self.tokens = 0
        self.lifetimes: list[str] = []
        self.asked: list[str] = []
        self.url = ""

    def answer(self, item: str, token: str) -> tuple[int, bytes]:
        """Status and body."""
        self.asked.append(item)
        if item in self.silent:
            self.gate.wait(60)
        if self.statuses.get(item):
            return self.statuses[item].pop(0), b""
        if token != f"secret-{self.tokens}":
            return 401, b""
        text = self.items.get(item)
        return (404, b"") if text is None else (200, text.encode("utf-8", "surrogateescape"))

    def hand_out(self, lifetime: str) -> tuple[int, bytes]:
        """A new token; the old one is forgotten."""
        if self.statuses.get("token"):
            return self.statuses["token"].pop(0), b""
        self.tokens += 1
        self.lifetimes.append(lifetime)
        return 200, f"secret-{self.tokens}".encode()


@contextmanager
def serving() -> Iterator[MetadataService]:
    """The service on a port of its own, until the block ends."""
    service = MetadataService()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self._send(*service.hand_out(self.headers["X-aws-ec2-metadata-token-ttl-seconds"]))

        def do_GET(self) -> None:
            item = self.path.removeprefix("/latest/meta-data/")
            self._send(*service.answer(item, self.headers["X-aws-ec2-metadata-token"]))

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output quiet."""

        def _send(self, status: int, body: bytes) -> None:
            try:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                # The client has given up.
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}/latest"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        service.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()
