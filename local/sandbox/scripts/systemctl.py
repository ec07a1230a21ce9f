"""systemctl on a simulated node: asks the node's systemd over the socket that is the first argument."""

import json
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    with connection.makefile("rwb") as stream:
        stream.write(json.dumps(sys.argv[2:]).encode() + b"\n")
        stream.flush()
        answer = json.loads(stream.readline())
sys.stdout.write(answer["text"])
sys.exit(answer["code"])
