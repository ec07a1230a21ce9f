"""``python -m local.emulator --port P``: the embedded AWS on 127.0.0.1, for the demo and for tests."""

import argparse
import socket
import sys
from pathlib import Path

from local.emulator.server import configure, serve


def main() -> int:
    """Print the address and run until told to stop; 1 with one line on standard error when the port is taken."""
    parser = argparse.ArgumentParser(prog="python -m local.emulator", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1 for every AWS API; 0 for a free one")
    parser.add_argument("--state-directory", type=Path, default=Path(".local/emulator"), help="log and scratch files")
    parser.add_argument("--parent", type=int, help="stop when the process with this id is gone")
    arguments = parser.parse_args()
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", arguments.port))
        listener.listen(128)
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


if __name__ == "__main__":
    sys.exit(main())
