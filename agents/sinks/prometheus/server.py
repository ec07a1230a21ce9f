"""``GET /metrics`` on one address, for whoever scrapes this node.

A scraper is a guest: at most a few at once, each for a few seconds, and none of them can hold up the agent. There is no
password and no TLS, so the address decides who can read; docs/prometheus.md says how to choose it.
"""

import gzip
import logging
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any, Final

from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import CollectorRegistry

from agents.config import PrometheusConfig
from agents.sinks.prometheus.exporter import PrometheusExporter

logger = logging.getLogger(__name__)
_PATH: Final = "/metrics"
# Seconds for a whole request, from connection to the last byte of the answer.
_REQUEST_SECONDS: Final = 10.0
# Two Prometheus servers for availability and a person with a browser; more wait outside.
_MOST_AT_ONCE: Final = 4


class MetricsServer(ThreadingMixIn, HTTPServer):
    """Serves ``registry`` in threads that do not keep the agent from ending."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: str, port: int, registry: CollectorRegistry, seconds: float = _REQUEST_SECONDS) -> None:
        """Open the port; ``seconds`` is the longest that one request may take.

        Raises:
            OSError: the address is not this machine's, or the port is taken.
        """
        self.registry = registry
        self.seconds = seconds
        self._places = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, port), _Handler)

    def server_bind(self) -> None:
        """Without the name look-up of the base class, which can take seconds where there is no DNS."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def start(self) -> None:
        """Serve from now on, in a thread of its own."""
        threading.Thread(target=self.serve_forever, name="prometheus", daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base class's signature
        """Give the request a thread, or hang up where too many are being served."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Serve one request, for a limited time."""
        watch = threading.Timer(self.seconds, _hang_up, [request])
        watch.daemon = True
        watch.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            watch.cancel()
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """A scraper that went away is its own business."""
        logger.debug("a request for metrics failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer
    server_version = "neuron-fleet-agent"
    sys_version = ""

    def do_GET(self) -> None:
        """The metrics, in the format that the scraper prefers."""
        if self.path.partition("?")[0] != _PATH:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        encode, content_type = choose_encoder(self.headers.get("Accept", ""))
        body = encode(self.server.registry)
        packed = "gzip" in self.headers.get("Accept-Encoding", "")
        if packed:
            body = gzip.compress(body, compresslevel=1)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401 - the base class's signature
        """Scrapes are not worth a line each."""


def _hang_up(request: socket.socket) -> None:
    try:
        request.shutdown(socket.SHUT_RDWR)
    except OSError:
        logger.debug("the connection of a slow request was closed already")


def serve(config: PrometheusConfig) -> PrometheusExporter | None:
    """An exporter that is being served as ``config`` says; None where the port cannot be opened, which is logged."""
    made = PrometheusExporter()
    try:
        server = MetricsServer(config.address, config.port, made.registry)
    except OSError as error:
        logger.error(  # noqa: TRY400 - the line says it all
            "no metrics for Prometheus: %s port %d cannot be opened: %s", config.address, config.port, error.strerror
        )
        return None
    server.start()
    return made
