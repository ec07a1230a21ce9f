"""``python -m bench.shadow_recorder``: how long answers take with the recorder and without.

Two processes of the example server's stand-in are asked in turns, with as many connections, for as long. One records
every request (an endpoint records a share of them), and puts them where S3 would be: once into a bucket that takes
them, once into one that never answers. The bar: its median within 5 % of the other's, and none of its answers fails.
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from cli.bench.load import Load
from cli.bench.load import run as make_load
from fleet.serving.measurement import measure
from tests.support.served_standin import served
from tests.support.shadow import ecs_agent

CONNECTIONS: Final = 4
SECONDS: Final = 4
TURNS: Final = 4
BAR: Final = 0.05
BATCH_SECONDS: Final = 0.02


class Store:
    """A bucket, as far as PutObject goes; ``hangs`` says that it takes a request and never answers."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs, self._ends = hangs, threading.Event()
        self.asked = 0
        self.kept = 0

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Its address."""
        store = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                store.take(content)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            self._ends.set()
            server.shutdown()
            thread.join()
            server.server_close()

    def take(self, content: bytes) -> None:
        """One object."""
        self.asked += 1
        if self._hangs:
            self._ends.wait()
        text = content[content.index(b"{") : content.rindex(b"}") + 1]
        self.kept += len(json.loads(text)["samples"])


def run(turns: int = TURNS, seconds: int = SECONDS) -> tuple[float, float]:
    """Print medians and their ratios, with a bucket that takes what comes and with one that hangs; the ratios."""
    ratios = []
    for hangs in (False, True):
        store = Store(hangs=hangs)
        with tempfile.TemporaryDirectory() as name, store.serving() as s3, _both(Path(name), s3) as (plain, recording):
            pairs = [_turn(plain, recording, seconds, is_plain_first=bool(turn % 2)) for turn in range(turns)]
        ratio = statistics.median(ours / theirs for theirs, ours in pairs)
        theirs, ours = (statistics.median(each) * 1000 for each in zip(*pairs, strict=True))
        title = "S3 that hangs" if hangs else "S3 that answers"
        print(
            f"recorder, {title}: p50 {ours:.2f} ms with it, {theirs:.2f} ms without, ratio {ratio:.3f} (bar: {1 + BAR})"
        )
        if not hangs:
            print(f"recorder: {store.kept} requests were kept in {store.asked} objects")
        ratios.append(ratio)
    return ratios[0], ratios[1]


@contextmanager
def _both(folder: Path, s3: str) -> Iterator[tuple[str, str]]:
    """Addresses of a server as it is, and of one that records."""
    for name in ("plain", "recording"):
        (folder / name).mkdir()
    with (
        ecs_agent("chat:7", "bench") as agent,
        served(folder / "plain", "--seconds", str(BATCH_SECONDS)) as plain,
        served(folder / "recording", "--seconds", str(BATCH_SECONDS), told=_told(agent, s3)) as recording,
    ):
        # It learns which task it is, and reads botocore's data, while it answers already.
        time.sleep(10)
        yield plain, recording


def _told(agent: str, s3: str) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "us-east-2",
        "AWS_ENDPOINT_URL": s3, "ECS_CONTAINER_METADATA_URI_V4": agent, "NEURON_FLEET_SHADOW_BUCKET": "shadow",
        "NEURON_FLEET_SHADOW_FLEET": "chat", "NEURON_FLEET_SHADOW_CANDIDATES": "bench-candidate",
        "NEURON_FLEET_SHADOW_PERCENT": "100", "NEURON_FLEET_SHADOW_REQUESTS": "100",
        "NEURON_FLEET_SHADOW_COSINE": "0.999",
    }  # fmt: skip


def _turn(plain: str, recording: str, seconds: int, *, is_plain_first: bool) -> tuple[float, float]:
    if is_plain_first:
        first = _p50(plain, seconds)
        return first, _p50(recording, seconds)
    first = _p50(recording, seconds)
    return _p50(plain, seconds), first


def _p50(address: str, seconds: int) -> float:
    # Embeddings are all compared; of completions only those with temperature 0.
    load = Load(address, "embeddings", (100,), 16, CONNECTIONS, None, 1, seconds, 30, "")
    made = make_load(load)
    found = measure(made.samples, made.begin, made.end)
    if found.errors:
        raise RuntimeError(f"{address} failed: {found.errors}")
    return found.latency_seconds["p50"]


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m bench.shadow_recorder", description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    asked = parser.parse_args()
    run(asked.turns, asked.seconds)


if __name__ == "__main__":
    main()
