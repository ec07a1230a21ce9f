"""A bucket in memory, and the ECS agent as a container asks it which task it is."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from workload.errors import ServingError
from workload.serving.shadow.adapters import S3Bucket


@dataclass
class Bucket(S3Bucket):
    """Raises while ``refuses`` says why."""

    objects: dict[str, bytes] = field(default_factory=dict)
    refuses: str = ""

    def put(self, key: str, content: bytes) -> None:
        self._ask()
        self.objects[key] = content

    def get(self, key: str) -> bytes:
        self._ask()
        return self.objects[key]

    def keys(self, prefix: str, after: str) -> list[str]:
        self._ask()
        return sorted(key for key in self.objects if key.startswith(prefix) and key > after)

    def _ask(self) -> None:
        if self.refuses:
            raise ServingError(self.refuses)


@contextmanager
def ecs_agent(version: str, cluster: str, task: str = "t1", fails: int = 0) -> Iterator[str]:
    """Its address. The first ``fails`` requests are answered with an error."""
    family, _, revision = version.partition(":")
    told = {
        "Cluster": f"arn:aws:ecs:us-east-2:111122223333:cluster/{cluster}",
        "TaskARN": f"arn:aws:ecs:us-east-2:111122223333:task/{cluster}/{task}",
        "Family": family,
        "Revision": revision,
    }
    left = [fails]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            left[0] -= 1
            self.send_response(200 if left[0] < 0 and self.path == "/v4/c1/task" else 500)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v4/c1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
