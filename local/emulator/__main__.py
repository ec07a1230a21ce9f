"""``python -m local.emulator --port P``: the embedded AWS on 127.0.0.1, for the demo and for tests."""

import argparse
import socket
import sys
from pathlib import Path

from local.emulator.server import configure, serve


def main() -> int:
    """Print the address and run until told to stop; 1 with one line on standard error when the port is taken."""
    parser = argparse.ArgumentParser(prog="python -m local.emulator", description=__doc__)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--port", type=int, help="port on 127.0.0.1 for every AWS API; 0 for a free one")
    place.add_argument("--listener", type=int, help="file descriptor of a socket that listens already")
    parser.add_argument("--state-directory", type=Path, default=Path(".local/emulator"), help="log and scratch files")
    parser.add_argument("--parent", type=int, help="stop when the process with this id is gone")
    arguments = parser.parse_args()
    try:
        listener = _listener(arguments.port, arguments.listener)
    except OSError as error:
        sys.stderr.write(f"port {arguments.port} on 127.0.0.1: {error.strerror}; choose another with --port\n")
        return 1
    port = listener.getsockname()[1]
    configure(port, arguments.state_directory)
    # From here on a request waits until the server takes it.
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    serve(listener, arguments.parent)
    return 0


def _listener(port: int | None, descriptor: int | None) -> socket.socket:
    if descriptor is not None:
        return socket.socket(fileno=descriptor)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port or 0))
    listener.listen(128)
    return listener


if __name__ == "__main__":
    sys.exit(main())
