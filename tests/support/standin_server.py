"""A server that stands in for a task with a model: it answers at once, and says how long the model would have taken.

Run as a program: ``standin_server.py VERSION ADDRESS``; it prints its port. The time is in a header in place of a
wait, so that a busy machine does not make a good version slow.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

SECONDS = {"slow": 0.6}
ERROR_EVERY = {"errors": 50}
NEVER_HEALTHY = frozenset({"sick"})
_NUMBERS = count(1)


def handler(version: str) -> type[BaseHTTPRequestHandler]:
    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are two writes: over a connection that is kept, the second would wait for the client's receipt.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            if self.path == "/health":
                self._answer(503 if version in NEVER_HEALTHY else 200)
                return
            every = ERROR_EVERY.get(version)
            self._answer(500 if every and next(_NUMBERS) % every == 0 else 200)

        def _answer(self, status: int) -> None:
            body = version.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Model-Seconds", str(SECONDS.get(version, 0.2)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Answer


def main() -> None:
    server = ThreadingHTTPServer((sys.argv[2], 0), handler(sys.argv[1]))
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
