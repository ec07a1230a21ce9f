"""The node's name from instance metadata, against a server of our own."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agents.collectors.instance_metadata import instance_id


class _Metadata(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        self._answer(b"secret" if self.path == "/api/token" else b"")

    def do_GET(self) -> None:
        is_known = self.path == "/meta-data/instance-id" and self.headers["X-aws-ec2-metadata-token"] == "secret"
        self._answer(b"i-0123\n" if is_known else b"")

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output quiet."""

    def _answer(self, body: bytes) -> None:
        self.send_response(200 if body else 401)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Metadata)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_token_comes_first_and_the_name_is_trimmed(endpoint: str) -> None:
    assert instance_id(endpoint) == "i-0123"


def test_without_instance_metadata_there_is_no_name(endpoint: str) -> None:
    assert instance_id(f"{endpoint}/elsewhere") == ""
    assert instance_id("http://127.0.0.1:9") == ""
