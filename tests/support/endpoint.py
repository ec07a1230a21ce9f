"""An HTTP server on this machine that stands for CloudWatch and CloudWatch Logs, and keeps what came over the wire."""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Call:
    """One request: the operation's name, what it said, and how many bytes it had on the wire."""

    operation: str
    content: dict[str, Any]
    encoding: str
    bytes_sent: int


@dataclass
class Endpoint:
    """``answer`` may replace the answer to a call: a status, and an error code. None hangs up without one."""

    url: str = ""
    calls: list[Call] = field(default_factory=list)
    answer: Callable[[Call], tuple[int, str] | None] = lambda _: (200, "")
    came: threading.Condition = field(default_factory=threading.Condition)

    def of(self, operation: str) -> list[Call]:
        """The calls of one operation so far."""
        with self.came:
            return [call for call in self.calls if call.operation == operation]

    def wait_for(self, condition: Callable[[], bool], limit: float = 120.0) -> None:
        """Return when ``condition`` holds, which is looked at whenever a call has come."""
        with self.came:
            assert self.came.wait_for(condition, timeout=limit), "the endpoint waited in vain"


@contextmanager
def serving() -> Iterator[Endpoint]:
    """An endpoint on a free port."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body in one packet: the second of two would wait for the first one's acknowledgment.
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            encoding = self.headers.get("Content-Encoding", "")
            plain = gzip.decompress(body) if encoding == "gzip" else body
            operation = self.headers["X-Amz-Target"].partition(".")[2]
            call = Call(operation, json.loads(plain or b"{}"), encoding, len(body))
            answer = endpoint.answer(call)
            with endpoint.came:
                endpoint.calls.append(call)
                endpoint.came.notify_all()
            if answer is None:
                self.close_connection = True
                return
            status, code = answer
            content = json.dumps({"__type": code, "message": code} if code else {}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
